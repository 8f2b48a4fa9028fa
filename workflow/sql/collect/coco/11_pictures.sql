-- Each listed picture under the URL that it was taken in by, or its own; the id is that of crawl.
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
        listed.*,
        coalesce(named.image_url, listed.coco_url) AS image_url,
        coalesce(named.is_ambiguous, FALSE) AS is_ambiguous
    FROM listed LEFT JOIN named ON listed.file_name = named.name
)

SELECT
    located.*,
    taken.sha256,
    url_uuid(located.image_url) AS image_id,
    NOT located.is_ambiguous
    AND ((SELECT count(*) FROM ledger) = 0 OR coalesce(taken.status = 'success', FALSE))
        AS has_pixels
FROM located LEFT JOIN ledger AS taken USING (image_url)
ORDER BY image_id, file, row
