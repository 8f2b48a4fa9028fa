-- The collection was filtered before publication: the pairs dropped here lack their text, or have a
-- missing or broken picture.
WITH counted AS (
    SELECT
        judged.split,
        count(*) AS before,
        count(qrels.text_id) AS after
    FROM judged
    LEFT JOIN qrels
        ON
            judged.text_id = qrels.text_id AND judged.image_id = qrels.image_id
            AND judged.split = qrels.split AND judged.relevance = qrels.relevance
    GROUP BY judged.split
)

SELECT
    'published' AS step,
    split,
    before,
    before - after AS dropped,
    after
FROM counted
ORDER BY list_position(['train', 'validation', 'test'], split)
