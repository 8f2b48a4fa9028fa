-- Labelled pictures, and how many of them are used.
WITH counted AS (
    SELECT split, count(*) AS before FROM queries GROUP BY split
),

used AS (
    SELECT split, count(*) AS after FROM images GROUP BY split
)

SELECT
    'labels' AS step, counted.split, counted.before,
    counted.before - coalesce(used.after, 0) AS dropped, coalesce(used.after, 0) AS after
FROM counted LEFT JOIN used ON counted.split = used.split
ORDER BY list_position(['train', 'validation', 'test'], counted.split), counted.split
