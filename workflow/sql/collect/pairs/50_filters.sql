-- Pairs of each split: those that were read, then those that each reason leaves, in the order in
-- which reasons are looked at. Attributes that could not be read, and names of lists, are no pairs,
-- nor is what a form alone sets aside, such as a box; the split of what could not be read is not
-- known.
WITH reasons AS (
    SELECT [
        'unreadable', 'no_picture', 'no_text', 'duplicate_image_id', 'duplicate_text_id',
        'bad_relevance', 'no_split', 'unknown_split', 'repeated_pair', 'mixed_splits'
    ] AS in_order
),

set_aside AS (
    SELECT reason, split
    FROM pairs_rejected CROSS JOIN reasons
    WHERE
        reason NOT IN ('bad_date', 'bad_objects', 'bad_licence', 'bad_size', 'unknown_name')
        AND (split IS NOT NULL OR list_contains(reasons.in_order, reason))
    UNION ALL
    SELECT reason, split FROM judged WHERE reason IS NOT NULL
    UNION ALL
    SELECT 'first_text' AS reason, split FROM usable WHERE represents AND $texts <> 'language'
    UNION ALL
    SELECT 'read' AS reason, split FROM qrels
),

counted AS (
    SELECT
        coalesce(split, 'unknown') AS split,
        reason AS step,
        CASE reason WHEN 'read' THEN 0 WHEN 'first_text' THEN 3 ELSE 1 END AS stage,
        list_position((SELECT in_order FROM reasons), reason) AS place,
        count(*) AS n
    FROM set_aside
    GROUP BY split, reason
),

-- A split of which nothing is left has been read as well.
every_split AS (
    SELECT split, step, stage, place, n FROM counted
    UNION ALL
    SELECT DISTINCT split, 'read' AS step, 0 AS stage, NULL::INTEGER AS place, 0 AS n
    FROM counted
    WHERE split NOT IN (SELECT c.split FROM counted AS c WHERE c.step = 'read')
),

steps AS (
    SELECT
        *,
        if(step = 'read', 0, n) AS dropped,
        sum(n) OVER (PARTITION BY split) AS every_pair,
        sum(if(step = 'read', 0, n)) OVER (
            PARTITION BY split ORDER BY stage, place NULLS LAST, step ROWS UNBOUNDED PRECEDING
        ) AS gone
    FROM every_split
)

SELECT
    step,
    split,
    (every_pair - gone + dropped)::BIGINT AS before,
    dropped::BIGINT AS dropped,
    (every_pair - gone)::BIGINT AS after
FROM steps
ORDER BY
    list_position(['train', 'validation', 'test', 'unknown'], split),
    stage,
    place NULLS LAST,
    step
