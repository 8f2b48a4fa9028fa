-- Pairs that the filters of the members kept and dropped, summed; then those that the union
-- dropped.
WITH union_pairs AS (
    SELECT split, count(*) AS n FROM qrels GROUP BY split
),

member_pairs AS (
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
        'union' AS step, member_pairs.split,
        member_pairs.n AS before, member_pairs.n - coalesce(union_pairs.n, 0) AS dropped,
        coalesce(union_pairs.n, 0) AS after
    FROM member_pairs LEFT JOIN union_pairs ON member_pairs.split = union_pairs.split
)

SELECT *
FROM counted
ORDER BY
    list_position(['projected', 'alive', 'canonical', 'one_split', 'union'], step),
    list_position(['train', 'validation', 'test', 'other'], split)
