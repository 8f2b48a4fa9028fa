-- The judged documents of each task, and all of its pool.
SELECT task, count(*) FILTER (WHERE judged) AS judged, count(*) AS documents
FROM places
GROUP BY task
ORDER BY task DESC
