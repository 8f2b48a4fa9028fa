-- The split that a query was judged in.
SELECT DISTINCT 't2m' AS task, split, text_id AS query_id, split AS stratum FROM qrels
UNION ALL
SELECT DISTINCT 'm2t' AS task, split, image_id AS query_id, split AS stratum FROM qrels
ORDER BY task, split, query_id
