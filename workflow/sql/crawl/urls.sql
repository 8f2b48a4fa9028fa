-- An image's id is the UUID of its URL, as in the published collection.
WITH distinct_urls AS (
    SELECT DISTINCT image_url FROM associations WHERE image_url IS NOT NULL
),

named AS (
    SELECT
        image_url,
        url_uuid(image_url) AS image_id
    FROM distinct_urls
)

SELECT
    image_id,
    image_url,
    ((row_number() OVER (ORDER BY image_id) - 1) * $shards // count(*) OVER ())::INTEGER AS shard
FROM named
ORDER BY image_id
