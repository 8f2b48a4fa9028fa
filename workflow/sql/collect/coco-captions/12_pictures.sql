-- Each listed picture with the URL under which crawl has stored it, or else its own; its id is made
-- from that URL, as in crawl. Without a file of splits the name of the caption file says the split,
-- as in kind coco.
WITH picture_splits AS (
    SELECT picture, min(split) AS split, count(DISTINCT split) > 1 AS is_in_two
    FROM listed_splits GROUP BY picture
),

crawled_files AS (
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
        coalesce(crawled_files.image_url, listed.coco_url) AS image_url,
        coalesce(crawled_files.is_ambiguous, FALSE) AS is_ambiguous,
        coalesce(picture_splits.is_in_two, FALSE) AS is_in_two,
        row_number() OVER (PARTITION BY listed.id ORDER BY listed.file, listed.row) > 1 AS is_again,
        CASE
            WHEN EXISTS (SELECT 1 FROM listed_splits) THEN picture_splits.split
            WHEN listed.file LIKE '%train%' THEN 'train'
            WHEN listed.file LIKE '%val%' THEN 'validation'
            ELSE 'test'
        END AS split
    FROM listed
    LEFT JOIN crawled_files ON listed.file_name = crawled_files.name
    LEFT JOIN picture_splits ON listed.id = picture_splits.picture
)

SELECT
    located.*,
    crawled.sha256,
    url_uuid(located.image_url) AS image_id,
    NOT located.is_ambiguous
    AND ((SELECT count(*) FROM ledger) = 0 OR coalesce(crawled.status = 'success', FALSE))
        AS has_pixels
FROM located LEFT JOIN ledger AS crawled USING (image_url)
ORDER BY image_id, file, row
