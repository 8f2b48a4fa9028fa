-- Pictures in a split with pixels, a caption that is the query, and others that describe them.
-- ASSUME a picture's first caption is the query and the others are its corpus: a picture has five
-- captions and nothing else here, and the paper does not say which of them are the query.
WITH described AS (
    SELECT
        pictures.name,
        any_value(descriptions.sentence)
        FILTER (WHERE descriptions.number = pictures.asked_by) AS query,
        list(descriptions.sentence ORDER BY descriptions.number)
        FILTER (WHERE descriptions.number <> pictures.asked_by) AS captions
    FROM pictures INNER JOIN descriptions ON pictures.name = descriptions.name
    WHERE descriptions.sentence <> '' AND descriptions.time = 1
    GROUP BY pictures.name
)

SELECT pictures.*, described.query, described.captions
FROM pictures
INNER JOIN described ON pictures.name = described.name
WHERE pictures.has_pixels AND pictures.split IS NOT NULL AND described.captions IS NOT NULL
ORDER BY pictures.image_id
