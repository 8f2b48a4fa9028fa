-- Of a corpus that splits share: an item may be in several of them.
WITH found AS (
    SELECT split FROM texts
    UNION
    SELECT split FROM images
)

SELECT split
FROM found
WHERE
    split IS NULL
    OR split NOT IN (
        'train', 'validation', 'test', 'other',
        'train+validation', 'train+test', 'validation+test', 'train+validation+test'
    )
UNION ALL
SELECT DISTINCT split
FROM qrels
WHERE split IS NULL OR split NOT IN ('train', 'validation', 'test')
ORDER BY split
