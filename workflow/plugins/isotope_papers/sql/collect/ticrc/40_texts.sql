-- A caption has no date: that of its picture would reveal the answer.
SELECT
    text_id,
    NULL::BIGINT AS page_id,
    NULL::BIGINT AS revision_id,
    NULL::VARCHAR AS page_url,
    NULL::VARCHAR AS page_title,
    NULL::VARCHAR AS section_title,
    NULL::VARCHAR AS hierarchy,
    NULL::VARCHAR AS context_page_description,
    caption AS context_section_description,
    $language AS language,
    []::VARCHAR[] AS category,
    split,
    number::VARCHAR AS source_text_id,
    source_split
FROM captions
ANTI JOIN flawed
    ON
        flawed.file = captions.split || '/' || captions.folder || 'captions.tsv'
        AND captions.row = flawed.row
ORDER BY text_id
