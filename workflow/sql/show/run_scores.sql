-- What a run is worth, measure by measure.
SELECT
    measure,
    count(*) AS queries,
    round(avg(value), 4) AS mean,
    count(*) FILTER (value = 0) AS queries_at_zero
FROM scores
WHERE
    collection = $collection AND setting = $setting AND split = $split AND task = $task
    AND system = $system
GROUP BY measure
ORDER BY measure
