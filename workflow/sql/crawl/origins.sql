-- Where the URLs were requested; NULL for pictures that came with a data set and in older ledgers.
SELECT
    origin,
    count(*) AS urls
FROM ledgers
WHERE origin IS NOT NULL
GROUP BY origin
ORDER BY origin
