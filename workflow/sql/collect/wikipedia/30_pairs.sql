-- The pairs whose picture could be fetched, a row each, with the id that filter (b) gives the text;
-- null, if the dump has no such text.
-- Filter (a): an association whose image could not be downloaded is dropped. If both addresses of a
-- picture could be, the wiki's own is used, since its articles show that one.
WITH crawled AS (
    SELECT
        projected.text_id,
        projected.image_url,
        projected.split,
        row_number() OVER (
            PARTITION BY projected.text_id, projected.picture, projected.split
            ORDER BY
                projected.image_url LIKE '%/wikipedia/commons/%' ASC, projected.image_url ASC
        ) AS place
    FROM projected
    SEMI JOIN ledger ON projected.image_url = ledger.image_url AND ledger.status = 'success'
    WHERE projected.text_id IS NOT NULL
)

SELECT
    pages.canonical_id AS text_id,
    crawled.image_url,
    crawled.split,
    min(crawled.split) OVER same_text = max(crawled.split) OVER same_text AS text_in_one_split
FROM crawled
LEFT JOIN pages ON crawled.text_id = pages.text_id AND pages.is_text
WHERE crawled.place = 1
WINDOW same_text AS (PARTITION BY pages.canonical_id)
ORDER BY ALL
