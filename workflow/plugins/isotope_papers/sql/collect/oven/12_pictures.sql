-- Pictures by file name, with its ending and without; of two with the same name and bytes the first
-- by address.
WITH crawled_files AS (
    SELECT
        urls.image_id, urls.image_url, ledger.status, ledger.width, ledger.height, ledger.sha256,
        ledger.upstream_sha256,
        url_decode(regexp_extract(urls.image_url, '[^/]+$')) AS name
    FROM urls
    INNER JOIN ledger ON urls.image_url = ledger.image_url
),

keyed AS (
    SELECT *, name AS key FROM crawled_files
    UNION
    SELECT *, regexp_replace(name, '\.[A-Za-z0-9]+$', '') AS key FROM crawled_files
)

SELECT
    * EXCLUDE (status, upstream_sha256),
    CASE
        WHEN min(upstream_sha256) OVER same_key <> max(upstream_sha256) OVER same_key
            THEN 'ambiguous_picture'
        ELSE status
    END AS status
FROM keyed
WINDOW same_key AS (PARTITION BY key)
QUALIFY row_number() OVER (PARTITION BY key ORDER BY image_url) = 1
ORDER BY key
