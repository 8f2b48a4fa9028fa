-- AToMiC (SIGIR 2023), Table 1: sizes per split, images per text (M/T) and texts per image (T/M).
-- Items that several splits judge, of a corpus that they share, have a row of their own. A split
-- without any item has none.
-- ASSUME ± is the population standard deviation; the paper does not say, and at the size of its
-- splits that of a sample prints alike.
WITH splits AS (
    SELECT unnest(['train', 'validation', 'test', 'several', 'other']) AS split
),

text_counts AS (
    SELECT if(contains(split, '+'), 'several', split) AS split, count(*) AS n
    FROM texts
    GROUP BY ALL
),

image_counts AS (
    SELECT if(contains(split, '+'), 'several', split) AS split, count(*) AS n
    FROM images
    GROUP BY ALL
),

per_text AS (
    SELECT split, count(*) AS n FROM qrels GROUP BY split, text_id
),

per_image AS (
    SELECT split, count(*) AS n FROM qrels GROUP BY split, image_id
),

m_per_t AS (
    SELECT split, sum(n)::BIGINT AS n, avg(n) AS mean, stddev_pop(n) AS sd
    FROM per_text GROUP BY split
),

t_per_m AS (
    SELECT split, avg(n) AS mean, stddev_pop(n) AS sd FROM per_image GROUP BY split
)

SELECT
    split, coalesce(text_counts.n, 0) AS texts, coalesce(image_counts.n, 0) AS images,
    coalesce(m_per_t.n, 0) AS qrels,
    round(m_per_t.mean, 6) AS m_per_t_mean, round(m_per_t.sd, 6) AS m_per_t_sd,
    round(t_per_m.mean, 6) AS t_per_m_mean, round(t_per_m.sd, 6) AS t_per_m_sd
FROM splits
LEFT JOIN text_counts USING (split) LEFT JOIN image_counts USING (split)
LEFT JOIN m_per_t USING (split) LEFT JOIN t_per_m USING (split)
WHERE coalesce(text_counts.n, image_counts.n, m_per_t.n) IS NOT NULL
ORDER BY list_position(['train', 'validation', 'test', 'several', 'other'], split)
