-- One row a line of in.tsv, whose columns the header names; a date is 1907-05-31 or 19070531.
WITH columns AS (
    SELECT string_split(line, chr(9)) AS names FROM header WHERE row = 1
),

fields AS (
    SELECT
        lines.split, lines.row, lines.line,
        string_split(lines.line, chr(9))[list_position(columns.names, 'picture_id')] AS picture,
        string_split(lines.line, chr(9))[list_position(columns.names, 'date')] AS written
    FROM lines CROSS JOIN columns
    WHERE lines.file = 'in.tsv'
)

SELECT
    fields.split, fields.row, fields.line, fields.picture, fields.written,
    coalesce(
        try_cast(fields.written AS DATE), try_strptime(fields.written, '%Y%m%d')::DATE
    ) AS date,
    urls.image_id, urls.image_url, ledger.status, ledger.width, ledger.height, ledger.sha256
FROM fields
LEFT JOIN urls ON string_split(urls.image_url, '/')[-1] = fields.picture
LEFT JOIN ledger ON urls.image_url = ledger.image_url
ORDER BY fields.split, fields.row
