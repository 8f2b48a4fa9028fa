-- Judged pairs of which both the text and the picture are in the collection.
SELECT
    text_id,
    image_id,
    relevance::INT AS relevance,
    split
FROM judged
WHERE
    image_id IN (SELECT alive.image_id FROM alive)
    AND text_id IN (SELECT known_texts.text_id FROM known_texts)
ORDER BY text_id ASC, image_id ASC
