WITH counts AS (
    SELECT step, split, sum(n)::BIGINT AS n FROM counted GROUP BY step, split
    UNION ALL
    SELECT 4 AS step, split, count(*) AS n FROM qrels GROUP BY split
),

splits AS (
    SELECT DISTINCT split FROM counted
),

grid AS (
    SELECT steps.step, splits.split, coalesce(counts.n, 0) AS n
    FROM unnest(range(5)) AS steps (step)
    CROSS JOIN splits
    LEFT JOIN counts ON steps.step = counts.step AND splits.split = counts.split
)

SELECT
    ['projected', 'alive', 'canonical', 'one_split'][later.step] AS step,
    later.split,
    earlier.n AS before,
    earlier.n - later.n AS dropped,
    later.n AS after
FROM grid AS later
INNER JOIN grid AS earlier ON later.step = earlier.step + 1 AND later.split = earlier.split
ORDER BY
    later.step,
    list_position(['train', 'validation', 'test', 'other'], later.split)
