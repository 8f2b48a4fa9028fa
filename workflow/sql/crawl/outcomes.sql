-- What became of the URLs, the most frequent outcome first, and where they were requested: NULL for
-- pictures that came with a data set and in older ledgers.
SELECT
    status,
    http_status,
    error,
    origin,
    count(*) AS urls,
    min(image_url) AS image_url
FROM ledgers
GROUP BY status, http_status, error, origin
ORDER BY urls DESC, status ASC, http_status ASC, error ASC, origin ASC
