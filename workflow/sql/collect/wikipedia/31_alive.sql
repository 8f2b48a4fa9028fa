-- Filter (a): an association whose image is dead goes. Of a picture that lives at two addresses
-- the wiki's own is the one that its articles show.
WITH living AS (
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
FROM living
WHERE place = 1
ORDER BY ALL
