-- Rows of the files, and how many of them are used.
WITH counted AS (
    SELECT 'queries' AS step, split, count(*) AS before FROM annotations GROUP BY split
    UNION ALL
    SELECT 'entities' AS step, 'other' AS split, count(*) AS before FROM knowledge_base
),

used AS (
    SELECT 'queries' AS step, split, count(*) AS after FROM images GROUP BY split
    UNION ALL
    SELECT 'entities' AS step, 'other' AS split, count(*) AS after FROM texts
)

SELECT
    counted.step, counted.split, counted.before,
    counted.before - coalesce(used.after, 0) AS dropped, coalesce(used.after, 0) AS after
FROM counted LEFT JOIN used ON counted.step = used.step AND counted.split = used.split
ORDER BY
    list_position(['queries', 'entities'], counted.step),
    list_position(['train', 'validation', 'test', 'other'], counted.split)
