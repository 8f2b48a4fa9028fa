-- A caption is a description without a page.
SELECT
    'coco-' || sentences.id AS text_id,
    NULL::BIGINT AS page_id,
    NULL::BIGINT AS revision_id,
    NULL::VARCHAR AS page_url,
    NULL::VARCHAR AS page_title,
    NULL::VARCHAR AS section_title,
    NULL::VARCHAR AS hierarchy,
    NULL::VARCHAR AS context_page_description,
    sentences.sentence AS context_section_description,
    $language AS language,
    []::VARCHAR[] AS category,
    usable.split,
    sentences.id::VARCHAR AS source_text_id
FROM usable INNER JOIN sentences ON usable.id = sentences.picture
WHERE sentences.sentence <> '' AND sentences.place <= 5
ORDER BY text_id
