-- URLs of the list that no ledger has, and URLs of a ledger that the list no longer has.
SELECT
    coalesce(urls.image_url, ledgers.image_url) AS image_url,
    ledgers.image_url IS NULL AS is_new
FROM urls
FULL JOIN ledgers ON urls.image_url = ledgers.image_url
WHERE urls.image_url IS NULL OR ledgers.image_url IS NULL
ORDER BY image_url
