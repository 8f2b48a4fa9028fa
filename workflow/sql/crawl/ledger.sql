-- Older ledgers have one size of a picture, at which it was stored, too.
SELECT
    * REPLACE (
        coalesce(stored_width, width) AS stored_width,
        coalesce(stored_height, height) AS stored_height
    )
FROM ledgers
ORDER BY image_url
