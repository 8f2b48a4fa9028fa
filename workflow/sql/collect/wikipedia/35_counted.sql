-- Numbers of pairs before projection and before and after the filters, but the last: of pictures,
-- and from filter (a) on of image addresses.
WITH associated AS (
    SELECT DISTINCT
        split,
        source_text_id,
        picture
    FROM projected
),

paired AS (
    SELECT DISTINCT
        split,
        text_id,
        picture
    FROM projected
    WHERE text_id IS NOT NULL
),

canonical AS (
    SELECT DISTINCT
        split,
        text_id,
        image_url
    FROM pairs
    WHERE text_id IS NOT NULL
)

SELECT 0 AS step, split, count(*) AS n FROM associated GROUP BY split
UNION ALL
SELECT 1 AS step, split, count(*) AS n FROM paired GROUP BY split
UNION ALL
SELECT 2 AS step, split, count(*) AS n FROM pairs GROUP BY split
UNION ALL
SELECT 3 AS step, split, count(*) AS n FROM canonical GROUP BY split
ORDER BY step, split
