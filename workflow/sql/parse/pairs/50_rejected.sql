-- What can't be used: records that no reader could read, rows, attributes of rows that are used
-- without them, and names in lists of splits that no row has.
WITH known AS (
    SELECT image AS name FROM flawed
    UNION
    SELECT image_id AS name FROM flawed
    UNION
    SELECT source_text_id AS name FROM flawed
    UNION
    SELECT
        regexp_replace(
            regexp_extract(image, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS name
    FROM flawed
)

SELECT file, row, reason, detail, raw, NULL::VARCHAR AS split FROM unread
UNION ALL
SELECT
    file,
    row,
    reason,
    CASE
        WHEN reason = 'unknown_split' THEN source_split
        WHEN reason = 'mixed_splits' THEN array_to_string(list_splits, ', ')
        WHEN reason = 'duplicate_text_id' THEN source_text_id
        WHEN reason = 'duplicate_image_id' THEN image_id
        ELSE coalesce(image, text_id, '')
    END AS detail,
    coalesce(text, image, text_id, '') AS raw,
    split
FROM flawed
WHERE reason IS NOT NULL
UNION ALL
SELECT file, row, attribute.reason, attribute.value AS detail, coalesce(image, '') AS raw, split
FROM (
    SELECT DISTINCT file, row, image, split, unnest(unread) AS attribute
    FROM flawed
    WHERE reason IS NULL
) AS attributes
UNION ALL
SELECT file, row, 'unknown_name' AS reason, line AS detail, line AS raw, split
FROM lists
WHERE
    line NOT IN (SELECT k.name FROM known AS k WHERE k.name IS NOT NULL)
    AND regexp_replace(
        regexp_extract(line, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
    ) NOT IN (SELECT k.name FROM known AS k WHERE k.name IS NOT NULL)
ORDER BY file, row, reason, detail
