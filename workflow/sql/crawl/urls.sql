-- image_id is uuid3(NAMESPACE_URL, image_url), as in the published collection (RFC 4122, 4.3).
WITH distinct_urls AS (
    SELECT DISTINCT image_url FROM associations
),

hashed AS (
    SELECT
        image_url,
        md5(from_hex('6ba7b8119dad11d180b400c04fd430c8') || encode(image_url)) AS h
    FROM distinct_urls
),

named AS (
    SELECT
        image_url,
        concat_ws(
            '-',
            h[1:8],
            h[9:12],
            '3' || h[14:16],
            substr('89ab', (('0x' || h[17])::INTEGER & 3) + 1, 1) || h[18:20],
            h[21:32]
        ) AS image_id
    FROM hashed
)

SELECT
    image_id,
    image_url,
    ((row_number() OVER (ORDER BY image_id) - 1) * $shards // count(*) OVER ())::INTEGER AS shard
FROM named
ORDER BY image_id
