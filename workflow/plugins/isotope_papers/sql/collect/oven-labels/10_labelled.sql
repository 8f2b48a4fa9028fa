-- One row a line of the labels, whose header names image, label, category and split.
WITH header AS (
    SELECT string_split(line, chr(9)) AS names FROM labels WHERE row = 1 ORDER BY file LIMIT 1
),

fields AS (
    SELECT
        labels.file, labels.row, labels.line,
        string_split(labels.line, chr(9)) AS cells,
        header.names
    FROM labels CROSS JOIN header
    WHERE labels.row > 1
)

SELECT
    file, row, line,
    nullif(trim(cells[list_position(names, 'image')]), '') AS picture,
    trim(replace(cells[list_position(names, 'label')], '_', ' ')) AS label,
    coalesce(trim(cells[list_position(names, 'category')]), '') AS category,
    coalesce(nullif(trim(cells[list_position(names, 'split')]), ''), 'test') AS split
FROM fields
ORDER BY file, row
