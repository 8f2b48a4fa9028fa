SELECT *
FROM images
WHERE image_id = $id AND collection = coalesce($collection, collection)
ORDER BY collection
