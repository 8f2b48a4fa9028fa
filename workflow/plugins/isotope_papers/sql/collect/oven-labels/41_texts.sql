-- An entity is in the split of the questions that it answers; if several splits have such
-- questions, in `other`.
WITH judged AS (
    SELECT
        text_id,
        CASE WHEN count(DISTINCT split) = 1 THEN min(split) ELSE 'other' END AS split
    FROM qrels
    GROUP BY text_id
)

SELECT
    articles.text_id,
    articles.page_id,
    articles.revision_id,
    articles.page_url,
    articles.page_title,
    NULL::VARCHAR AS section_title,
    NULL::VARCHAR AS hierarchy,
    articles.context_section_description AS context_page_description,
    NULL::VARCHAR AS context_section_description,
    articles.language,
    articles.category,
    coalesce(judged.split, 'other') AS split,
    NULL::VARCHAR AS source_text_id,
    articles.picture_id
FROM articles
LEFT JOIN judged ON articles.text_id = judged.text_id
ORDER BY articles.text_id
