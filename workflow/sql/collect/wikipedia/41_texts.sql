WITH judged AS (
    SELECT DISTINCT
        text_id,
        split
    FROM qrels
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
    pages.source_text_id,
    pages.media
FROM pages
LEFT JOIN judged ON pages.text_id = judged.text_id
WHERE pages.is_text AND pages.text_id = pages.canonical_id
ORDER BY pages.text_id
