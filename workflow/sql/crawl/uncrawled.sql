-- URLs that are wanted but in no ledger, and URLs in a ledger that nobody wants any more.
SELECT
    coalesce(urls.image_url, ledgers.image_url) AS image_url,
    ledgers.image_url IS NULL AS is_new
FROM urls
FULL JOIN ledgers ON urls.image_url = ledgers.image_url
WHERE urls.image_url IS NULL OR ledgers.image_url IS NULL
ORDER BY image_url
