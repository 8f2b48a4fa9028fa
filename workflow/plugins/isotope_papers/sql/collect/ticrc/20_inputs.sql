-- One row a line of in.tsv, whose columns the header names; a date is 1907-05-31 or 19070531. Of
-- several pictures with its name, a line means the one of its own folder of the challenge.
WITH columns AS (
    SELECT string_split(line, chr(9)) AS names FROM header WHERE row = 1
),

fields AS (
    SELECT
        lines.split, lines.source_split, lines.folder, lines.row, lines.line,
        string_split(lines.line, chr(9))[list_position(columns.names, 'picture_id')] AS picture,
        string_split(lines.line, chr(9))[list_position(columns.names, 'date')] AS written
    FROM lines CROSS JOIN columns
    WHERE lines.file = 'in.tsv'
),

located AS (
    SELECT
        fields.*, urls.image_id, urls.image_url,
        ledger.status, ledger.width, ledger.height, ledger.sha256,
        ledger.upstream_sha256,
        coalesce(
            ends_with('/' || urls.image_url, '/' || source_split || '/pictures/' || picture), FALSE
        ) AS near
    FROM fields
    LEFT JOIN urls ON string_split(urls.image_url, '/')[-1] = fields.picture
    LEFT JOIN ledger ON urls.image_url = ledger.image_url
)

SELECT
    split, source_split, folder, row, line, picture, written,
    coalesce(try_cast(written AS DATE), try_strptime(written, '%Y%m%d')::DATE) AS date,
    image_id, image_url, width, height, sha256, near,
    CASE
        WHEN min(upstream_sha256) OVER same_line <> max(upstream_sha256) OVER same_line
            THEN 'ambiguous_picture'
        ELSE status
    END AS status
FROM located
WINDOW same_line AS (PARTITION BY split, folder, row, near)
QUALIFY
    row_number() OVER (
        PARTITION BY split, folder, row
        ORDER BY near DESC, status = 'success' DESC NULLS LAST, image_url ASC
    ) = 1
ORDER BY split, folder, row
