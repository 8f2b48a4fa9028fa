-- The failures that the page shows of each system: the least similar to the right answer, then the
-- most similar.
WITH ordered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY task, system ORDER BY ca ASC, coalesce(ncs, 1) ASC, query_id ASC
        ) AS from_worst,
        row_number() OVER (
            PARTITION BY task, system ORDER BY ca DESC, coalesce(ncs, 1) DESC, query_id ASC
        ) AS from_best
    FROM failures
    WHERE ca IS NOT NULL
)

SELECT * FROM ordered
WHERE from_worst <= $shown OR from_best <= $shown
ORDER BY task DESC, system ASC, from_worst ASC
