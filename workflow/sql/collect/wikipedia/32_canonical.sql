-- Filter (b): texts with the same titles and descriptions share one id.
SELECT DISTINCT
    pages.canonical_id AS text_id,
    alive.image_url,
    alive.split
FROM alive
INNER JOIN pages ON alive.text_id = pages.text_id
ORDER BY ALL
