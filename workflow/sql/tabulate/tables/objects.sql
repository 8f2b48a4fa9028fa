-- AToMiC (SIGIR 2023), Fig. 4, which objects: images with at least one, and instances, by class.
WITH depicted AS (
    SELECT objects.synset AS class, images.image_id
    FROM objects INNER JOIN images USING (image_url)
),

shares AS (
    SELECT class, count(*) / sum(count(*)) OVER () AS share FROM depicted GROUP BY class
),

named AS (
    SELECT CASE WHEN shares.share < $tail THEN 'others' ELSE class END AS label, depicted.image_id
    FROM depicted INNER JOIN shares USING (class)
)

SELECT
    label, count(*) AS instances, count(DISTINCT image_id) AS images,
    round(count(*) / sum(count(*)) OVER (), 6) AS share
FROM named
GROUP BY label
ORDER BY label = 'others' ASC, instances DESC, label ASC
