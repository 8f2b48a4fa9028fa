-- The objects of some pictures with their boxes, and the size of the picture in px.
SELECT
    known.image_id,
    known.concept,
    known.x_min,
    known.y_min,
    known.x_max,
    known.y_max,
    coalesce(images.width, max(known.x_max) OVER (PARTITION BY known.image_id)) AS width,
    coalesce(images.height, max(known.y_max) OVER (PARTITION BY known.image_id)) AS height
FROM known INNER JOIN images ON known.image_id = images.image_id
WHERE list_contains($ids, known.image_id)
ORDER BY known.image_id, known.concept, known.x_min, known.y_min
