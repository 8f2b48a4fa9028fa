-- Each listed picture under the URL that it was taken in by, or its own; the id is that of crawl.
WITH located AS (
    SELECT
        listed.*,
        coalesce(urls.image_url, listed.coco_url) AS image_url
    FROM listed
    LEFT JOIN urls ON listed.file_name = regexp_extract(urls.image_url, '[^/]+$')
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
    (SELECT count(*) FROM ledger) = 0 OR coalesce(taken.status = 'success', FALSE) AS has_pixels
FROM hashed LEFT JOIN ledger AS taken USING (image_url)
ORDER BY image_id, file, row
