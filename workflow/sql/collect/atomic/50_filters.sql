-- The collection's own filters were at work before publication; only a broken picture is dropped.
WITH counted AS (
    SELECT
        judged.split,
        count(*) AS before,
        count(*) FILTER (judged.image_id IN (SELECT alive.image_id FROM alive)) AS after
    FROM judged
    GROUP BY judged.split
)

SELECT
    'published' AS step,
    split,
    before,
    before - after AS dropped,
    after
FROM counted
ORDER BY list_position(['train', 'validation', 'test'], split)
