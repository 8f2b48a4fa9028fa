-- The pictures that could be decoded.
SELECT
    published.image_id,
    ledger.width,
    ledger.height,
    ledger.sha256
FROM published_images AS published
INNER JOIN ledger ON published.image_url = ledger.image_url
WHERE ledger.status = 'success'
ORDER BY published.image_id
