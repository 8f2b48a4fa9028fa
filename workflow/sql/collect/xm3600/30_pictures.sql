-- Every image that a line names; the URL is that of a file of images.tgz (RFC 4122, 4.3 for ids).
WITH named AS (
    SELECT
        image_key,
        max(locale) AS locale,
        'https://open-images-dataset.s3.amazonaws.com/crossmodal-3600/' || image_key || '.jpg'
            AS image_url,
        md5(from_hex('6ba7b8119dad11d180b400c04fd430c8') || encode(image_url)) AS h
    FROM lines
    WHERE reason IS NULL
    GROUP BY image_key
),

crawl AS (
    SELECT count(*) AS pictures FROM ledger
)

SELECT
    named.image_key,
    named.locale,
    named.image_url,
    concat_ws(
        '-',
        h[1:8],
        h[9:12],
        '3' || h[14:16],
        substr('89ab', (('0x' || h[17])::INTEGER & 3) + 1, 1) || h[18:20],
        h[21:32]
    ) AS image_id,
    ledger.width,
    ledger.height,
    ledger.sha256,
    CASE
        WHEN crawl.pictures = 0 OR ledger.status = 'success' THEN NULL
        ELSE coalesce(ledger.status, 'missing_picture')
    END AS reason
FROM named
CROSS JOIN crawl
LEFT JOIN ledger ON named.image_url = ledger.image_url
ORDER BY image_id
