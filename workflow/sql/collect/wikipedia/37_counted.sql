-- What stands before each of the filters but the last, and before all of them.
WITH associated AS (
    SELECT DISTINCT
        split,
        source_text_id,
        image_url
    FROM projected
)

SELECT 0 AS step, split, count(*) AS n FROM associated GROUP BY split
UNION ALL
SELECT 1 AS step, split, count(*) AS n FROM pairs GROUP BY split
UNION ALL
SELECT 2 AS step, split, count(*) AS n FROM alive GROUP BY split
UNION ALL
SELECT 3 AS step, split, count(*) AS n FROM canonical GROUP BY split
ORDER BY step, split
