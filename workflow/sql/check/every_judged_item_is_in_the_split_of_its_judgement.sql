-- A text that several splits judge belongs to none of them: an entity is seen, and asked for again.
WITH shared AS (
    SELECT text_id FROM qrels GROUP BY text_id HAVING count(DISTINCT split) > 1
)

SELECT
    qrels.*,
    texts.split AS text_split,
    images.split AS image_split
FROM qrels
INNER JOIN texts ON qrels.text_id = texts.text_id
INNER JOIN images ON qrels.image_id = images.image_id
LEFT JOIN shared ON qrels.text_id = shared.text_id
WHERE
    images.split <> qrels.split
    OR texts.split <> CASE WHEN shared.text_id IS NULL THEN qrels.split ELSE 'other' END
ORDER BY ALL
