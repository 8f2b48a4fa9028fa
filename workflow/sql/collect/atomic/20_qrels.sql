SELECT
    text_id,
    image_id,
    relevance::INT AS relevance,
    split
FROM judged
WHERE image_id IN (SELECT alive.image_id FROM alive)
ORDER BY text_id ASC, image_id ASC
