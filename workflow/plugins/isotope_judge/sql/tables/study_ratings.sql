-- How bad people find the failures of each system: 1 is hopeless, 10 as good as the right answer.
SELECT
    task,
    system,
    count(DISTINCT query_id) AS failures,
    count(DISTINCT assessor) AS assessors,
    count(rating) AS ratings,
    avg(rating) AS rating_mean,
    stddev_pop(rating) AS rating_sd
FROM studied
GROUP BY task, system
ORDER BY task DESC, rating_mean DESC NULLS LAST, system ASC
