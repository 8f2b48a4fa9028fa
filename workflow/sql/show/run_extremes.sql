-- The queries that a run answers best and worst, by the measure whose name comes first.
WITH chosen AS (
    SELECT
        query_id,
        measure,
        value
    FROM scores
    WHERE
        collection = $collection AND setting = $setting AND split = $split AND task = $task
        AND system = $system
    QUALIFY measure = min(measure) OVER ()
),

numbered AS (
    SELECT
        *,
        row_number() OVER (ORDER BY value DESC, query_id ASC) AS from_best,
        row_number() OVER (ORDER BY value, query_id) AS from_worst
    FROM chosen
)

SELECT
    query_id,
    measure,
    round(value, 4) AS value
FROM numbered
WHERE from_best <= $most OR from_worst <= $most
ORDER BY value DESC, query_id ASC
