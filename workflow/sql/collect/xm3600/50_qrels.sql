-- Relevant is the image that the caption was written for.
SELECT
    texts.text_id,
    pictures.image_id,
    1 AS relevance,
    texts.split
FROM texts
INNER JOIN pictures ON texts.source_text_id = pictures.image_key
ORDER BY texts.text_id ASC, pictures.image_id ASC
