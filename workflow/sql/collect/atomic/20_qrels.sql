SELECT
    text_id,
    image_id,
    relevance::INT AS relevance,
    split
FROM judged
ORDER BY text_id ASC, image_id ASC
