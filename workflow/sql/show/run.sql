SELECT
    count(*) FILTER (rank = 1) AS queries,
    count(*) AS hits,
    max(rank) AS depth,
    any_value(collection) AS collection
FROM runs
WHERE
    collection = $collection AND setting = $setting AND split = $split AND task = $task
    AND system = $system
HAVING count(*) > 0
ORDER BY queries
