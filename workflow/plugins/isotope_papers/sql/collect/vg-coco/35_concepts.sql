-- V(I) of section 4.1, with boxes; corners are whole px.
SELECT
    picture,
    list(
        {
            'synset': synset,
            'x_min': round(x)::INTEGER,
            'y_min': round(y)::INTEGER,
            'x_max': round(x + w)::INTEGER,
            'y_max': round(y + h)::INTEGER
        }
        ORDER BY object_id
    ) AS objects
FROM drawn
WHERE synset IS NOT NULL AND x + y + w + h IS NOT NULL
GROUP BY picture
ORDER BY picture
