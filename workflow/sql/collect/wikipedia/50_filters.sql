WITH associated AS (
    SELECT DISTINCT
        split,
        source_text_id,
        image_url
    FROM projected
),

counted AS (
    SELECT 0 AS step, split, count(*) AS n FROM associated GROUP BY split
    UNION ALL
    SELECT 1 AS step, split, count(*) AS n FROM pairs GROUP BY split
    UNION ALL
    SELECT 2 AS step, split, count(*) AS n FROM alive GROUP BY split
    UNION ALL
    SELECT 3 AS step, split, count(*) AS n FROM canonical GROUP BY split
    UNION ALL
    SELECT 4 AS step, split, count(*) AS n FROM one_split GROUP BY split
),

splits AS (
    SELECT DISTINCT split FROM associated
),

grid AS (
    SELECT steps.step, splits.split, coalesce(counted.n, 0) AS n
    FROM unnest(range(5)) AS steps (step)
    CROSS JOIN splits
    LEFT JOIN counted ON steps.step = counted.step AND splits.split = counted.split
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
