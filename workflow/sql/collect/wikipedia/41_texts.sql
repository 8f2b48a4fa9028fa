WITH judged AS (
    SELECT DISTINCT
        text_id,
        split
    FROM qrels
),

sources AS (
    SELECT
        pages.canonical_id,
        min(projected.source_text_id) AS source_text_id
    FROM projected
    INNER JOIN pages ON projected.text_id = pages.text_id
    GROUP BY pages.canonical_id
)

SELECT
    pages.text_id,
    pages.page_id,
    pages.revision_id,
    pages.page_url,
    pages.page_title,
    pages.section_title,
    pages.hierarchy,
    pages.context_page_description,
    pages.context_section_description,
    pages.language,
    pages.category,
    coalesce(judged.split, 'other') AS split,
    sources.source_text_id
FROM pages
LEFT JOIN judged ON pages.text_id = judged.text_id
LEFT JOIN sources ON pages.text_id = sources.canonical_id
WHERE pages.text_id = pages.canonical_id
ORDER BY pages.text_id
