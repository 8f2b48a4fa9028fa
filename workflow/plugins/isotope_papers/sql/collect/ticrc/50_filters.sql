-- Rows of each split's files, and how many of them are used.
WITH counted AS (
    SELECT 'pictures' AS step, split, count(*) AS before FROM inputs GROUP BY split
    UNION ALL
    SELECT 'captions' AS step, split, count(*) AS before FROM captions GROUP BY split
    UNION ALL
    SELECT 'answers' AS step, split, count(*) AS before FROM answers GROUP BY split
),

used AS (
    SELECT 'pictures' AS step, split, count(*) AS after FROM images GROUP BY split
    UNION ALL
    SELECT 'captions' AS step, split, count(*) AS after FROM texts GROUP BY split
    UNION ALL
    SELECT 'answers' AS step, split, count(*) AS after FROM qrels GROUP BY split
)

SELECT
    counted.step, counted.split, counted.before,
    counted.before - coalesce(used.after, 0) AS dropped, coalesce(used.after, 0) AS after
FROM counted LEFT JOIN used ON counted.step = used.step AND counted.split = used.split
ORDER BY
    list_position(['pictures', 'captions', 'answers'], counted.step),
    list_position(['train', 'validation', 'test'], counted.split)
