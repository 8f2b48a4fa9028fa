-- What the filters of each collection set aside in each split, and what was kept, which has no
-- reason. The filters of one thing follow each other: one has before it what another left.
WITH steps AS (
    SELECT
        collection,
        CASE
            WHEN step IN ('queries', 'entities', 'answers', 'labels') THEN step
            WHEN step IN ('captions', 'pictures', 'images') THEN step
            ELSE 'pairs'
        END AS things,
        split,
        step,
        sum(before)::BIGINT AS before,
        sum(dropped)::BIGINT AS dropped
    FROM filters
    GROUP BY collection, split, step
),

counted AS (
    SELECT
        collection,
        things,
        split,
        CASE step
            WHEN 'projected' THEN 'no section found'
            WHEN 'alive' THEN 'picture lost'
            WHEN 'canonical' THEN 'same as another'
            WHEN 'one_split' THEN 'in several splits'
            WHEN 'mixed_splits' THEN 'in several splits'
            WHEN 'union' THEN 'in several splits'
            WHEN 'first_text' THEN 'stand for their picture'
            WHEN 'usable' THEN 'not usable'
            WHEN things THEN 'not usable'
            ELSE replace(step, '_', ' ')
        END AS reason,
        dropped AS n
    FROM steps
    UNION ALL
    SELECT
        collection,
        things,
        split,
        NULL AS reason,
        max(before) - sum(dropped) AS n
    FROM steps
    GROUP BY collection, things, split
)

SELECT
    collection AS name,
    things,
    split,
    reason,
    n::BIGINT AS n
FROM counted
ORDER BY
    name,
    things,
    list_position(['train', 'validation', 'test'], split),
    split,
    reason
