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
)

SELECT
    located.*,
    taken.sha256,
    url_uuid(located.image_url) AS image_id,
    NOT located.is_ambiguous
    AND ((SELECT count(*) FROM ledger) = 0 OR coalesce(taken.status = 'success', FALSE))
        AS has_pixels
FROM located LEFT JOIN ledger AS taken USING (image_url)
ORDER BY picture
