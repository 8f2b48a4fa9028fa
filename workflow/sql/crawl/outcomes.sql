-- What became of the URLs, the most frequent outcome first.
SELECT
    status,
    http_status,
    error,
    count(*) AS urls,
    min(image_url) AS image_url
FROM ledgers
GROUP BY status, http_status, error
ORDER BY urls DESC, status ASC, http_status ASC, error ASC
