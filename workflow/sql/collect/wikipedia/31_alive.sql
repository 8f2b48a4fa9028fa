-- Filter (a): an association whose image is dead goes.
SELECT pairs.*
FROM pairs
SEMI JOIN ledger ON pairs.image_url = ledger.image_url AND ledger.status = 'success'
ORDER BY ALL
