-- AToMiC (SIGIR 2023), Fig. 3: images by style; styles below the threshold are one bar, `others`.
WITH styled AS (
    SELECT styles.style, styles.image_id FROM styles INNER JOIN images USING (image_id)
),

shares AS (
    SELECT style, count(*) / sum(count(*)) OVER () AS share FROM styled GROUP BY style
)

SELECT
    CASE WHEN shares.share < $tail THEN 'others' ELSE style END AS label,
    count(*) AS images,
    round(count(*) / sum(count(*)) OVER (), 6) AS share
FROM styled INNER JOIN shares USING (style)
GROUP BY label
ORDER BY label = 'others' ASC, images DESC, label ASC
