-- Shards are ranges of the sorted ids: their outputs, one after the other, are sorted too.
WITH numbered AS (
    SELECT *, row_number() OVER (ORDER BY image_id) - 1 AS place FROM all_urls
)

SELECT image_id, image_url
FROM numbered
WHERE place * $shards // (SELECT count(*) FROM all_urls) = $nth
ORDER BY image_id, image_url
