WITH items AS (
    SELECT 'text' AS side, text_id AS id FROM texts
    UNION ALL
    SELECT 'image' AS side, image_id AS id FROM images
)

SELECT
    side,
    id,
    count(*) AS n
FROM items
GROUP BY side, id
HAVING count(*) > 1
ORDER BY side, id
