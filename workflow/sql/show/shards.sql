-- Which files hold the pictures.
SELECT DISTINCT shard
FROM pixels
WHERE image_id IN (SELECT unnest($ids))
ORDER BY shard
