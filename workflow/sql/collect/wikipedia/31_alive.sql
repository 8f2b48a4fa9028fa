-- Filter (a): an association whose image could not be downloaded is dropped. If both addresses of a
-- picture could be, the wiki's own is used, since its articles show that one.
WITH crawled_pairs AS (
    SELECT
        pairs.*,
        row_number() OVER (
            PARTITION BY pairs.text_id, pairs.picture, pairs.split
            ORDER BY pairs.image_url LIKE '%/wikipedia/commons/%' ASC, pairs.image_url ASC
        ) AS place
    FROM pairs
    SEMI JOIN ledger ON pairs.image_url = ledger.image_url AND ledger.status = 'success'
)

SELECT * EXCLUDE (place)
FROM crawled_pairs
WHERE place = 1
ORDER BY ALL
