-- Lines that can't be used. Of repeated lines the first is used; of the lines of a picture, one
-- from its own folder goes first.
WITH checked AS (
    SELECT
        split || '/' || folder || 'in.tsv' AS file,
        row,
        line AS raw,
        coalesce(picture, '') AS detail,
        row_number() OVER (
            PARTITION BY image_id
            ORDER BY
                status = 'success' DESC NULLS LAST, near DESC,
                list_position(['train', 'validation', 'test'], split) ASC, folder ASC, row ASC
        ) AS time,
        CASE
            WHEN written IS NULL OR picture IS NULL THEN 'short_row'
            WHEN date IS NULL THEN 'bad_date'
            WHEN image_id IS NULL THEN 'missing_picture'
            WHEN status <> 'success' THEN status
            WHEN time > 1 THEN 'repeated_picture'
        END AS reason
    FROM inputs
    UNION ALL
    SELECT
        split || '/' || folder || 'captions.tsv' AS file, row, line AS raw,
        coalesce(number::VARCHAR, '') AS detail,
        row_number() OVER (PARTITION BY split, folder, number ORDER BY row) AS time,
        CASE
            WHEN caption IS NULL OR number IS NULL THEN 'short_row'
            WHEN caption = '' THEN 'empty_caption'
            WHEN time > 1 THEN 'repeated_number'
        END AS reason
    FROM captions
)

SELECT file, row, reason, detail, raw
FROM checked
WHERE reason IS NOT NULL
ORDER BY file ASC, row ASC
