-- Deciles of the views of a query's page, 10 the most viewed; an image has its most viewed page.
-- ASSUME a page that the table of views lacks was not viewed.
WITH viewed AS (
    SELECT texts.text_id, coalesce(views.views, 0) AS views
    FROM texts LEFT JOIN views USING (page_id)
),

queries AS (
    SELECT 't2m' AS task, split, text_id AS query_id, max(views) AS views
    FROM qrels INNER JOIN viewed USING (text_id)
    GROUP BY split, text_id
    UNION ALL
    SELECT 'm2t' AS task, split, image_id AS query_id, max(views) AS views
    FROM qrels INNER JOIN viewed USING (text_id)
    GROUP BY split, image_id
)

SELECT
    task, split, query_id,
    printf(
        '%02d', ntile(10) OVER (PARTITION BY task, split ORDER BY views, query_id)
    ) AS stratum
FROM queries
ORDER BY task, split, query_id
