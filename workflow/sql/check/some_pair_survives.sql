-- Where every text and image is of a test set, its answers may be withheld.
WITH withheld AS (
    SELECT
        coalesce((SELECT bool_and(split = 'test') FROM texts), FALSE)
        AND coalesce((SELECT bool_and(split = 'test') FROM images), FALSE) AS answers
)

SELECT 'no qrels are left after the three filters' AS found
FROM withheld
WHERE NOT answers AND NOT EXISTS (SELECT 1 FROM qrels)
ORDER BY found
