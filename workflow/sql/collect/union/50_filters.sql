-- What the members kept and dropped, added up; then what putting them together dropped.
WITH kept AS (
    SELECT split, count(*) AS n FROM qrels GROUP BY split
),

found AS (
    SELECT split, count(*) AS n FROM member_qrels GROUP BY split
),

counted AS (
    SELECT
        step, split,
        sum(before)::BIGINT AS before, sum(dropped)::BIGINT AS dropped, sum(after)::BIGINT AS after
    FROM member_filters
    GROUP BY step, split
    UNION ALL
    SELECT
        'union' AS step, found.split,
        found.n AS before, found.n - coalesce(kept.n, 0) AS dropped, coalesce(kept.n, 0) AS after
    FROM found LEFT JOIN kept ON found.split = kept.split
)

SELECT *
FROM counted
ORDER BY
    list_position(['projected', 'alive', 'canonical', 'one_split', 'union'], step),
    list_position(['train', 'validation', 'test', 'other'], split)
