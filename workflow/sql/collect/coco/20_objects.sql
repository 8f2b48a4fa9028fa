-- ASSUME a crowd's box holds no countable object, as COCO says; corners are rounded to whole px.
-- The paper speaks of neither.
SELECT
    picture,
    list(
        {
            'synset': synset,
            'x_min': round(bbox[1])::INTEGER,
            'y_min': round(bbox[2])::INTEGER,
            'x_max': round(bbox[1] + bbox[3])::INTEGER,
            'y_max': round(bbox[2] + bbox[4])::INTEGER
        }
        ORDER BY id
    ) AS objects
FROM boxes
WHERE NOT is_crowd AND synset IS NOT NULL AND len(bbox) = 4
GROUP BY picture
ORDER BY picture
