-- The images that a text is judged to go with.
WITH judged AS (
    SELECT
        image_id,
        relevance,
        split
    FROM qrels
    WHERE collection = $collection AND text_id = $id
)

SELECT
    judged.image_id,
    judged.relevance,
    judged.split,
    list_filter(images.caption_reference_description, LAMBDA c: c <> '')[1] AS caption,
    images.image_url
FROM judged
INNER JOIN images
    ON judged.image_id = images.image_id AND images.collection = $collection
ORDER BY judged.relevance DESC, judged.image_id ASC
