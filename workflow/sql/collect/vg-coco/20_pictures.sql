-- The shared pictures, each under the URL that it was taken in by, or its own; the id is that of
-- crawl.
WITH named AS (
    SELECT
        regexp_extract(urls.image_url, '[^/]+$') AS name,
        min(urls.image_url) AS image_url,
        coalesce(min(ledger.upstream_sha256) <> max(ledger.upstream_sha256), FALSE) AS is_ambiguous
    FROM urls LEFT JOIN ledger ON urls.image_url = ledger.image_url
    GROUP BY name
),

located AS (
    SELECT
        pictured.* EXCLUDE (image_id, url),
        pictured.image_id AS picture,
        coalesce(named.image_url, pictured.url) AS image_url,
        coalesce(named.is_ambiguous, FALSE) AS is_ambiguous
    FROM pictured LEFT JOIN named ON regexp_extract(pictured.url, '[^/]+$') = named.name
    WHERE pictured.split IS NOT NULL AND pictured.time = 1
),

hashed AS (
    SELECT
        *,
        md5(from_hex('6ba7b8119dad11d180b400c04fd430c8') || encode(image_url)) AS h
    FROM located
)

SELECT
    hashed.* EXCLUDE (h),
    taken.sha256,
    concat_ws(
        '-',
        h[1:8],
        h[9:12],
        '3' || h[14:16],
        substr('89ab', (('0x' || h[17])::INTEGER & 3) + 1, 1) || h[18:20],
        h[21:32]
    ) AS image_id,
    NOT hashed.is_ambiguous
    AND ((SELECT count(*) FROM ledger) = 0 OR coalesce(taken.status = 'success', FALSE))
        AS has_pixels
FROM hashed LEFT JOIN ledger AS taken USING (image_url)
ORDER BY picture
