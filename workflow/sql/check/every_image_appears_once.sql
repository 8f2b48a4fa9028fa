SELECT
    image_id,
    count(*) AS n
FROM images
GROUP BY image_id
HAVING count(*) > 1
ORDER BY image_id
