-- The language of the query's text; of an image, those of its texts. One language is no stratum.
WITH languages AS (
    SELECT qrels.split, qrels.text_id, qrels.image_id, texts.language
    FROM qrels INNER JOIN texts USING (text_id)
),

queries AS (
    SELECT DISTINCT 't2m' AS task, split, text_id AS query_id, language AS stratum FROM languages
    UNION ALL
    SELECT
        'm2t' AS task, split, image_id AS query_id,
        string_agg(DISTINCT language, '+' ORDER BY language) AS stratum
    FROM languages
    GROUP BY split, image_id
)

SELECT task, split, query_id, stratum
FROM queries
WHERE (SELECT count(DISTINCT language) FROM texts) > 1
ORDER BY task, split, query_id
