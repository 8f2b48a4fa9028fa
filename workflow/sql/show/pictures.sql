-- The WebP bytes of some images.
SELECT
    image_id,
    any_value(webp) AS webp
FROM read_parquet($shards)
WHERE image_id IN (SELECT unnest($ids))
GROUP BY image_id
ORDER BY image_id
