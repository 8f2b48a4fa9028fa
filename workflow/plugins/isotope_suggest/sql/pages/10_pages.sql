-- Every page of the collection, and how many sections it has beside its lead.
WITH sized AS (
    SELECT
        language,
        page_id,
        count(*) FILTER (WHERE place > 0) AS sections
    FROM outlines
    GROUP BY language, page_id
)

SELECT
    texts.language,
    texts.page_id,
    min(texts.page_title) AS title,
    min(sized.sections) AS sections
FROM texts
INNER JOIN sized ON texts.language = sized.language AND texts.page_id = sized.page_id
GROUP BY texts.language, texts.page_id
ORDER BY texts.language, texts.page_id
