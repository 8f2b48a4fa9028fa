-- The texts that an image is judged to go with.
WITH judged AS (
    SELECT
        text_id,
        relevance,
        split
    FROM qrels
    WHERE collection = $collection AND image_id = $id
)

SELECT
    judged.text_id,
    judged.relevance,
    judged.split,
    texts.page_title,
    texts.section_title
FROM judged
INNER JOIN texts
    ON judged.text_id = texts.text_id AND texts.collection = $collection
ORDER BY judged.relevance DESC, judged.text_id ASC
