-- The decade of the query's picture; of a text, that of its first dated picture.
WITH dated AS (
    SELECT image_id, printf('%ds', year(date) // 10 * 10) AS decade
    FROM images
    WHERE date IS NOT NULL
)

SELECT 't2m' AS task, qrels.split, qrels.text_id AS query_id, min(decade) AS stratum
FROM qrels INNER JOIN dated USING (image_id)
GROUP BY qrels.split, qrels.text_id
UNION ALL
SELECT DISTINCT 'm2t' AS task, qrels.split, image_id AS query_id, decade AS stratum
FROM qrels INNER JOIN dated USING (image_id)
ORDER BY task, split, query_id
