-- The other pages that a section links to.
WITH links AS (
    SELECT
        outlines.text_id,
        outlines.language,
        outlines.page_id,
        unnest(outlines.links) AS link
    FROM outlines
    SEMI JOIN asked ON outlines.text_id = asked.text_id
)

SELECT DISTINCT
    links.text_id,
    links.language,
    titles.page_id,
    titles.title
FROM links
INNER JOIN titles ON links.language = titles.language AND links.link = titles.link
WHERE links.page_id <> titles.page_id
ORDER BY links.text_id, titles.page_id
