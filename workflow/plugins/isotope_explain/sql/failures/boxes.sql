-- The objects of some pictures with their boxes, and the size of the picture in px.
SELECT
    concepts.image_id,
    concepts.concept,
    concepts.x_min,
    concepts.y_min,
    concepts.x_max,
    concepts.y_max,
    coalesce(images.width, max(concepts.x_max) OVER (PARTITION BY concepts.image_id)) AS width,
    coalesce(images.height, max(concepts.y_max) OVER (PARTITION BY concepts.image_id)) AS height
FROM concepts INNER JOIN images ON concepts.image_id = images.image_id
WHERE list_contains($ids, concepts.image_id)
ORDER BY concepts.image_id, concepts.concept, concepts.x_min, concepts.y_min
