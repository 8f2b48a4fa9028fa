-- The page is in the id: projected-<page>-<section>.
WITH splits AS (
    SELECT DISTINCT
        text_id,
        split
    FROM qrels
)

SELECT
    known.text_id,
    try_cast(split_part(known.text_id, '-', 2) AS BIGINT) AS page_id,
    NULL::BIGINT AS revision_id,
    known.page_url,
    known.page_title,
    known.section_title,
    known.hierarchy,
    known.context_page_description,
    known.context_section_description,
    $language AS language,
    known.category,
    coalesce(splits.split, 'other') AS split,
    known.source_id AS source_text_id
FROM known_texts AS known
LEFT JOIN splits ON known.text_id = splits.text_id
ORDER BY known.text_id
