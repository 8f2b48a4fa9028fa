SELECT *
FROM texts
WHERE text_id = $id AND collection = coalesce($collection, collection)
ORDER BY collection
