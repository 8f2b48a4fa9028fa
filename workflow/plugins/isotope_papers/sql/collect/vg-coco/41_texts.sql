-- A query is a description without a page, a caption a line.
SELECT
    'vg-coco-' || coco_id AS text_id,
    NULL::BIGINT AS page_id,
    NULL::BIGINT AS revision_id,
    NULL::VARCHAR AS page_url,
    NULL::VARCHAR AS page_title,
    NULL::VARCHAR AS section_title,
    NULL::VARCHAR AS hierarchy,
    NULL::VARCHAR AS context_page_description,
    query AS context_section_description,
    $language AS language,
    []::VARCHAR[] AS category,
    split,
    coco_id::VARCHAR AS source_text_id
FROM usable
ORDER BY text_id
