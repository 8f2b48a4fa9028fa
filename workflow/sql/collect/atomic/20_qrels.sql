-- Judged pairs of which both the text and the picture are in the collection, once in a split.
SELECT
    text_id,
    image_id,
    relevance::INT AS relevance,
    split
FROM graded
WHERE
    place = 1
    AND image_id IN (SELECT alive.image_id FROM alive)
    AND text_id IN (SELECT known_texts.text_id FROM known_texts)
ORDER BY text_id ASC, image_id ASC, split ASC
