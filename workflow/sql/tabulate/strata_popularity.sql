-- Deciles of the views of a query's page, or of the links to it; an image has its best known page.
-- ASSUME a page that the table lacks was not viewed, or not linked to.
WITH pages AS ( -- the table has one of the two columns
    SELECT page_id, coalesce(views, inlinks) AS views
    FROM (
        SELECT * FROM known
        UNION ALL BY NAME
        SELECT NULL::BIGINT AS views, NULL::BIGINT AS inlinks LIMIT 0
    ) AS padded
),

viewed AS (
    SELECT texts.text_id, coalesce(pages.views, 0) AS views
    FROM texts LEFT JOIN pages USING (page_id)
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
