-- Of a corpus that splits share: once in each of them.
SELECT
    split,
    text_id,
    image_id,
    count(*) AS n
FROM qrels
GROUP BY split, text_id, image_id
HAVING count(*) > 1
ORDER BY split, text_id, image_id
