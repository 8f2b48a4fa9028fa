SELECT *
FROM ledgers
ORDER BY image_url
