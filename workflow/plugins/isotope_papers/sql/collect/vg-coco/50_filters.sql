-- COCO's listed pictures, those that Visual Genome has too, and those that are used as a query's
-- answer.
WITH counted AS (
    SELECT
        1 AS place, 'visual_genome' AS step, listed.split, count(*) AS before,
        count(pictures.coco_id) AS after
    FROM listed LEFT JOIN pictures ON listed.id = pictures.coco_id
    GROUP BY listed.split
    UNION ALL
    SELECT
        2 AS place, 'usable' AS step, pictures.split, count(*) AS before,
        count(usable.image_id) AS after
    FROM pictures LEFT JOIN usable ON pictures.image_id = usable.image_id
    GROUP BY pictures.split
)

SELECT step, split, before, before - after AS dropped, after
FROM counted
ORDER BY place, list_position(['train', 'validation', 'test'], split)
