-- The shared pictures with the URL under which crawl has stored them, or else their own; the id is
-- made from that URL, as in crawl.
WITH crawled_files AS (
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
        coalesce(crawled_files.image_url, pictured.url) AS image_url,
        coalesce(crawled_files.is_ambiguous, FALSE) AS is_ambiguous
    FROM pictured
    LEFT JOIN crawled_files ON regexp_extract(pictured.url, '[^/]+$') = crawled_files.name
    WHERE pictured.split IS NOT NULL AND pictured.time = 1
)

SELECT
    located.*,
    crawled.sha256,
    url_uuid(located.image_url) AS image_id,
    NOT located.is_ambiguous
    AND ((SELECT count(*) FROM ledger) = 0 OR coalesce(crawled.status = 'success', FALSE))
        AS has_pixels
FROM located LEFT JOIN ledger AS crawled USING (image_url)
ORDER BY picture
