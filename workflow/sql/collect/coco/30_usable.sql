-- Pictures with pixels, a caption that is the query, and one or more that describe them.
WITH described AS (
    SELECT
        picture,
        any_value(id) FILTER (WHERE place = 1) AS asked_by,
        list(sentence ORDER BY id) FILTER (WHERE place > 1) AS captions
    FROM sentences
    WHERE sentence <> ''
    GROUP BY picture
)

SELECT
    pictures.*,
    described.asked_by,
    described.captions
FROM pictures
INNER JOIN described ON pictures.id = described.picture
WHERE pictures.has_pixels AND described.captions IS NOT NULL
ORDER BY pictures.image_id
