-- The pixels of some images.
SELECT image_id AS id, webp
FROM pixels
WHERE list_contains($ids, image_id)
ORDER BY image_id
