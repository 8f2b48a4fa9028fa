-- The mean of every measure over the queries of a cell.
SELECT setting, split, task, system, measure, count(*) AS queries, round(favg(value), 6) AS value
FROM scores
GROUP BY setting, split, task, system, measure
ORDER BY setting ASC, split ASC, task ASC, system ASC, measure ASC
