-- The style of the query's image; of a text, that of the first of its images, by id.
SELECT 't2m' AS task, qrels.split, qrels.text_id AS query_id, arg_min(style, image_id) AS stratum
FROM qrels INNER JOIN styles USING (image_id)
GROUP BY qrels.split, qrels.text_id
UNION ALL
SELECT DISTINCT 'm2t' AS task, qrels.split, image_id AS query_id, style AS stratum
FROM qrels INNER JOIN styles USING (image_id)
ORDER BY task, split, query_id
