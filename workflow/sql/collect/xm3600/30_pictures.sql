-- Every image that a line names; the URL is that of a file of images.tgz.
WITH image_keys AS (
    SELECT
        image_key,
        max(locale) AS locale,
        'https://open-images-dataset.s3.amazonaws.com/crossmodal-3600/' || image_key || '.jpg'
            AS image_url
    FROM lines
    WHERE reason IS NULL
    GROUP BY image_key
),

crawl AS (
    SELECT count(*) AS pictures FROM ledger
)

SELECT
    image_keys.image_key,
    image_keys.locale,
    image_keys.image_url,
    url_uuid(image_keys.image_url) AS image_id,
    ledger.width,
    ledger.height,
    ledger.sha256,
    CASE
        WHEN crawl.pictures = 0 OR ledger.status = 'success' THEN NULL
        ELSE coalesce(ledger.status, 'missing_picture')
    END AS reason
FROM image_keys
CROSS JOIN crawl
LEFT JOIN ledger ON image_keys.image_url = ledger.image_url
ORDER BY image_id
