-- The judged pairs of a split: the picture that an image shows, the question on it, whether its
-- entity is seen in training, and the place of its text in `entities.sql`.
WITH judged AS (
    SELECT
        image_id,
        text_id
    FROM qrels
    WHERE split = $split AND relevance > 0
),

entities AS (
    SELECT
        text_id,
        row_number() OVER (ORDER BY text_id) - 1 AS place
    FROM texts
    SEMI JOIN judged ON texts.text_id = judged.text_id
)

SELECT
    judged.image_id,
    images.picture_id,
    coalesce(left(images.question, 1000), '') AS question,
    coalesce(images.subset, '') AS subset,
    coalesce(images.seen, '') AS seen,
    entities.place
FROM judged
INNER JOIN images ON judged.image_id = images.image_id
INNER JOIN entities ON judged.text_id = entities.text_id
ORDER BY judged.image_id, judged.text_id
