-- AToMiC (SIGIR 2023), Fig. 4, how many objects: images by their instances and by their classes.
WITH per_image AS (
    SELECT
        images.image_id,
        count(objects.synset) AS instances,
        count(DISTINCT objects.synset) AS classes
    FROM images LEFT JOIN objects USING (image_url)
    GROUP BY images.image_id
),

counted AS (
    SELECT 'instances' AS counted, least(instances, $most) AS n FROM per_image
    UNION ALL
    SELECT 'classes' AS counted, least(classes, $most) AS n FROM per_image
)

SELECT
    counted, n::VARCHAR || CASE WHEN n = $most THEN '+' ELSE '' END AS label,
    count(*) AS images,
    round(count(*) / sum(count(*)) OVER (PARTITION BY counted), 6) AS share
FROM counted
GROUP BY counted, n
ORDER BY counted DESC, counted.n ASC
