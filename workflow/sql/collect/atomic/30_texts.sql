-- The id contains the page's number: projected-<page>-<section>.
WITH splits AS (
    SELECT
        text_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS split
    FROM qrels
    GROUP BY text_id
)

SELECT
    t.text_id,
    try_cast(split_part(t.text_id, '-', 2) AS BIGINT) AS page_id,
    NULL::BIGINT AS revision_id,
    t.page_url,
    t.page_title,
    t.section_title,
    t.hierarchy,
    t.context_page_description,
    t.context_section_description,
    $language AS language,
    t.category,
    coalesce(splits.split, 'other') AS split,
    t.source_id AS source_text_id,
    t.media
FROM known_texts AS t
LEFT JOIN splits ON t.text_id = splits.text_id
ORDER BY t.text_id
