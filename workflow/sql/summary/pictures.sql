-- What became of the image URLs of each source; no reason for those that are there.
SELECT
    source AS name,
    'pictures' AS things,
    CASE WHEN status != 'success' THEN replace(status, '_', ' ') END AS reason,
    count(*) AS n
FROM ledger
GROUP BY source, status
