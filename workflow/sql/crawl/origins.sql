-- Where the URLs were asked for; what came along, and older ledgers, don't tell.
SELECT
    origin,
    count(*) AS urls
FROM ledgers
WHERE origin IS NOT NULL
GROUP BY origin
ORDER BY origin
