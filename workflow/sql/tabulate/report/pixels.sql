-- The pixels of some images; two crawls may hold the same one.
SELECT image_id AS id, min(webp) AS webp
FROM pixels
WHERE list_contains($ids, image_id)
GROUP BY image_id
ORDER BY image_id
