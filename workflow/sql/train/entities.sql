-- The texts of a split's judged pairs, by id: the five fields, and the picture of the text.
WITH judged AS (
    SELECT text_id
    FROM qrels
    WHERE split = $split AND relevance > 0
)

SELECT
    texts.text_id,
    texts.picture_id,
    coalesce(left(texts.page_title, 1000), '') AS page_title,
    coalesce(left(texts.section_title, 1000), '') AS section_title,
    coalesce(left(texts.hierarchy, 1000), '') AS hierarchy,
    coalesce(left(texts.context_section_description, 1000), '') AS context_section_description,
    coalesce(left(texts.context_page_description, 1000), '') AS context_page_description
FROM texts
SEMI JOIN judged ON texts.text_id = judged.text_id
ORDER BY texts.text_id
