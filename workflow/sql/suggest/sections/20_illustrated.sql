-- Sections with a picture: a file that is one, and is on at most $pages pages, or a picture that
-- WIT saw in the text that this section is, by the projection. `uses` is made by
-- parse/wikitext/10_uses.sql.
WITH pictures AS (
    SELECT text_id, language, page_id, file FROM uses WHERE reason IS NULL
),

shown AS (
    SELECT DISTINCT file, language, page_id FROM pictures
),

counted AS (
    SELECT file, count(*) AS pages FROM shown GROUP BY file
)

SELECT pictures.text_id
FROM pictures INNER JOIN counted ON pictures.file = counted.file
WHERE counted.pages <= $pages
UNION
SELECT text_id FROM projected WHERE text_id IS NOT NULL
ORDER BY text_id
