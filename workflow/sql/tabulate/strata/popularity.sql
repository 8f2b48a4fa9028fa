-- Deciles of the views of a query's page, or of the links to it; an image has its most viewed page.
-- With thresholds the head has more than $head views and the tail fewer than $tail: OVEN (ICCV
-- 2023), section 6 and Fig. 6, which names no other.
-- ASSUME a page that the table lacks was not viewed, or not linked to: Wikimedia's counts list only
-- pages that were. No paper says what becomes of the others.
WITH padded AS ( -- the table has one of page_id and page_title, and one of views and inlinks
    SELECT * FROM popularity
    UNION ALL BY NAME
    SELECT
        NULL::BIGINT AS page_id, NULL AS page_title, NULL::DOUBLE AS views, NULL::BIGINT AS inlinks
    WHERE FALSE
),

pages AS (
    SELECT
        page_id, replace(page_title::VARCHAR, '_', ' ') AS page_title,
        coalesce(views, inlinks) AS views
    FROM padded
),

viewed AS (
    SELECT texts.text_id, coalesce(by_id.views, by_title.views, 0) AS views
    FROM texts
    LEFT JOIN pages AS by_id ON texts.page_id = by_id.page_id
    LEFT JOIN pages AS by_title ON texts.page_title = by_title.page_title
),

queries AS (
    SELECT 't2m' AS task, split, text_id AS query_id, max(views) AS views
    FROM qrels INNER JOIN viewed USING (text_id)
    GROUP BY split, text_id
    UNION ALL
    SELECT 'm2t' AS task, split, image_id AS query_id, max(views) AS views
    FROM qrels INNER JOIN viewed USING (text_id)
    GROUP BY split, image_id
),

query_deciles AS (
    SELECT *, ntile(10) OVER (PARTITION BY task, split ORDER BY views, query_id) AS decile
    FROM queries
)

SELECT
    task, split, query_id,
    CASE
        WHEN $head::DOUBLE IS NULL THEN printf('%02d', decile)
        WHEN views > $head THEN 'head'
        WHEN views < $tail THEN 'tail'
        ELSE 'between'
    END AS stratum
FROM query_deciles
ORDER BY task, split, query_id
