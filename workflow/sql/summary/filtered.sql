-- What the filters of each collection dropped, and what was left. The filters of pairs follow each
-- other: one has before it what another left. Elsewhere each step counts rows of its own.
WITH steps AS (
    SELECT
        collection,
        step,
        step IN ('projected', 'alive', 'canonical', 'one_split', 'union') AS of_pairs,
        sum(before)::BIGINT AS before,
        sum(dropped)::BIGINT AS dropped,
        sum(after)::BIGINT AS after
    FROM filters
    GROUP BY collection, step
),

counted AS (
    SELECT
        collection,
        of_pairs,
        CASE step
            WHEN 'projected' THEN 'no section found'
            WHEN 'alive' THEN 'picture lost'
            WHEN 'canonical' THEN 'same as another'
            WHEN 'one_split' THEN 'in several splits'
            ELSE replace(step, '_', ' ')
        END AS reason,
        dropped AS n
    FROM steps
    UNION ALL
    SELECT
        collection,
        of_pairs,
        NULL AS reason,
        CASE WHEN of_pairs THEN max(before) - sum(dropped) ELSE sum(after) END AS n
    FROM steps
    GROUP BY collection, of_pairs
)

SELECT
    collection AS name,
    if(of_pairs, 'pairs', 'rows') AS things,
    reason,
    n::BIGINT AS n
FROM counted
