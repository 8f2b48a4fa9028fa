-- Pairs of each split and those that are used, then those whose text is one of the collection.
WITH counted AS (
    SELECT
        judged.split,
        count(*) AS pairs,
        count(usable.row) AS used,
        count(usable.row) FILTER (WHERE NOT usable.represents) AS queries
    FROM judged
    LEFT JOIN usable
        ON
            judged.file = usable.file
            AND judged.row = usable.row
            AND judged.nth = usable.nth
    GROUP BY judged.split
),

steps AS (
    SELECT 'usable' AS step, split, pairs AS before, used AS after FROM counted
    UNION ALL
    SELECT 'first_text' AS step, split, used AS before, queries AS after
    FROM counted
    WHERE coalesce($texts, 'all') = 'first'
)

SELECT step, split, before, before - after AS dropped, after
FROM steps
ORDER BY
    list_position(['usable', 'first_text'], step),
    list_position(['train', 'validation', 'test'], split)
