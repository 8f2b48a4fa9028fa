-- Captions of all languages: in the collections of the other languages they would describe images.
WITH rejected_rows AS (
    SELECT file, row, reason, coalesce(image_key, '') AS detail, line AS raw
    FROM lines
    WHERE reason IS NOT NULL
    UNION ALL
    SELECT
        file, row, 'empty_caption' AS reason, image_key || ', ' || language AS detail, line AS raw
    FROM entries
    WHERE wordless
    UNION ALL
    SELECT
        entries.file, entries.row, pictures.reason,
        entries.image_key || ', ' || entries.language AS detail, entries.line AS raw
    FROM entries
    INNER JOIN pictures ON entries.image_key = pictures.image_key
    WHERE pictures.reason IS NOT NULL AND NOT entries.wordless
)

SELECT file, row, reason, detail, raw
FROM rejected_rows
ORDER BY file ASC, row ASC, detail ASC
