WITH found AS (
    SELECT split FROM texts
    UNION
    SELECT split FROM images
    UNION
    SELECT split FROM qrels
)

SELECT split
FROM found
WHERE split NOT IN ('train', 'validation', 'test', 'other') OR split IS NULL
ORDER BY split
