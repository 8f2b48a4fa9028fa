-- In the order of their ids: what is made of one part comes before that of the next.
WITH placed AS (
    SELECT *, row_number() OVER (ORDER BY image_id) - 1 AS place FROM all_urls
)

SELECT image_id, image_url
FROM placed
WHERE place * $shards // (SELECT count(*) FROM all_urls) = $nth
ORDER BY image_id, image_url
