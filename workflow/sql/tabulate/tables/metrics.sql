-- The mean over queries of every measure in every cell of the experiment.
SELECT
    collection,
    setting,
    split,
    task,
    system,
    measure,
    round(favg(value), 6) AS value
FROM scores
GROUP BY collection, setting, split, task, system, measure
ORDER BY collection, setting, split, task, system, measure
