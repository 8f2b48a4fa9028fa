-- Where the WebP bytes of an image lie.
SELECT
    width,
    height,
    shard
FROM pixels
WHERE image_id = $id
ORDER BY shard
