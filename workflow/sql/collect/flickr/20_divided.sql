-- The split of each picture: that of the list that names it, which the list's file name says, else
-- Karpathy's. Lists name pictures with or without `.jpg`; a picture in the lists of two splits has
-- none.
WITH list_rows AS (
    SELECT
        file,
        row,
        trim(line) AS name,
        CASE
            WHEN file ILIKE '%train%' THEN 'train'
            WHEN file ILIKE '%dev%' OR file ILIKE '%val%' THEN 'validation'
            ELSE 'test'
        END AS split
    FROM splits
    WHERE trim(line) <> ''
),

parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(document -> 'images', '[{"filename":"VARCHAR","split":"VARCHAR"}]') AS items
    FROM karpathy
),

images AS (
    SELECT file, unnest(items) AS item, generate_subscripts(items, 1) AS row
    FROM parsed
    WHERE (SELECT count(*) FROM splits) = 0
),

picture_splits AS (
    SELECT
        file, row, CASE WHEN name ILIKE '%.jpg%' THEN name ELSE name || '.jpg' END AS name, split
    FROM list_rows
    UNION ALL
    SELECT
        file,
        row,
        item.filename AS name,
        CASE item.split WHEN 'val' THEN 'validation' WHEN 'restval' THEN 'train' ELSE item.split END
            AS split
    FROM images
)

SELECT
    name,
    min(file) AS file,
    min(row) AS row,
    CASE WHEN count(DISTINCT split) = 1 THEN min(split) END AS split
FROM picture_splits
GROUP BY name
ORDER BY name
