SELECT 'no qrels are left after the three filters' AS found
FROM qrels
HAVING count(*) = 0
ORDER BY found
