SELECT
    text_id,
    image_id,
    count(*) AS n
FROM qrels
GROUP BY text_id, image_id
HAVING count(*) > 1
ORDER BY text_id, image_id
