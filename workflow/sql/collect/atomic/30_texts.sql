-- The page is in the id: projected-<page>-<section>.
WITH splits AS (
    SELECT DISTINCT
        text_id,
        split
    FROM qrels
)

SELECT
    published.text_id,
    try_cast(split_part(published.text_id, '-', 2) AS BIGINT) AS page_id,
    NULL::BIGINT AS revision_id,
    published.page_url,
    published.page_title,
    published.section_title,
    array_to_string(published.hierachy, ' / ') AS hierarchy,
    published.context_page_description,
    published.context_section_description,
    $language AS language,
    published.category,
    coalesce(splits.split, 'other') AS split,
    published.source_id AS source_text_id
FROM published_texts AS published
LEFT JOIN splits ON published.text_id = splits.text_id
ORDER BY published.text_id
