-- The pictures that the caption files list. (Lists are unnested from a table: unnest parses its
-- argument again for every chunk of rows.)
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(
            document -> 'images',
            '[{"id":"BIGINT","file_name":"VARCHAR","coco_url":"VARCHAR",'
            || '"width":"INTEGER","height":"INTEGER"}]'
        ) AS items
    FROM captions
),

listed AS (
    SELECT file, unnest(items) AS item FROM parsed
)

SELECT file, row_number() OVER (PARTITION BY file) AS row, item.* FROM listed ORDER BY file, row
