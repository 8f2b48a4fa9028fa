-- The pictures that COCO's caption files list; a file's name says its split. (Lists are unnested
-- from a table: unnest parses its argument again for every chunk of rows.)
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(document -> 'images', '[{"id":"BIGINT","file_name":"VARCHAR"}]') AS items
    FROM captions
),

listed AS (
    SELECT file, unnest(items) AS item FROM parsed
)

SELECT
    file,
    row_number() OVER (PARTITION BY file) AS row,
    item.*,
    CASE WHEN file LIKE '%train%' THEN 'train' WHEN file LIKE '%val%' THEN 'validation' ELSE 'test'
    END AS split
FROM listed
ORDER BY file, row
