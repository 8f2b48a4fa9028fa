-- Rows that parse could not use, pairs that are not used, and pictures in rows of their own that
-- are not there, or have no text where their texts ask.
SELECT file, row, reason, detail, raw FROM pairs_rejected
UNION ALL
SELECT file, row, reason, detail, coalesce(text, text_id) AS raw
FROM judged
WHERE reason IS NOT NULL
UNION ALL
SELECT
    pairs.file,
    pairs.row,
    coalesce(located.problem, 'no_caption') AS reason,
    located.name AS detail,
    pairs.image_url AS raw
FROM pairs INNER JOIN located ON pairs.image_url = located.name
WHERE
    pairs.text_id IS NULL
    AND (
        located.problem IS NOT NULL
        OR (
            $texts IN ('first-of-several', 'five')
            AND located.image_id NOT IN (SELECT j.image_id FROM judged AS j)
        )
    )
ORDER BY file, row, reason, detail
