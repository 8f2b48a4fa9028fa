-- The labels of a data set, each once, with spaces instead of underscores; the header names the
-- columns.
WITH header AS (
    SELECT string_split(line, chr(9)) AS names FROM labels WHERE row = 1 ORDER BY file LIMIT 1
)

SELECT DISTINCT
    trim(replace(string_split(labels.line, chr(9))[list_position(header.names, 'label')], '_', ' '))
        AS label
FROM labels CROSS JOIN header
WHERE labels.row > 1 AND label <> ''
ORDER BY label
