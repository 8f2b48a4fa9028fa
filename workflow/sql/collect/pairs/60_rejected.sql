-- Rows that parse could not use, pairs that are not used, and pictures in rows of their own that
-- are not there.
SELECT file, row, reason, detail, raw FROM pairs_rejected
UNION ALL
SELECT file, row, reason, detail, text AS raw
FROM judged
WHERE reason IS NOT NULL
UNION ALL
SELECT
    pairs.file,
    pairs.row,
    located.problem AS reason,
    located.name AS detail,
    pairs.image_url AS raw
FROM pairs INNER JOIN located ON pairs.image_url = located.name
WHERE pairs.text_id IS NULL AND located.problem IS NOT NULL
ORDER BY file, row, reason, detail
