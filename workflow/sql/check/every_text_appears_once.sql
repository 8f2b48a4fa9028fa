SELECT
    text_id,
    count(*) AS n
FROM texts
GROUP BY text_id
HAVING count(*) > 1
ORDER BY text_id
