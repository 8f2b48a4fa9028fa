-- Visual Genome's pictures, one a row of image_data; several of one COCO picture are numbered.
WITH parsed AS (
    SELECT
        file,
        row,
        from_json(
            line,
            '{"image_id":"BIGINT","url":"VARCHAR","width":"INTEGER","height":"INTEGER",'
            || '"coco_id":"BIGINT"}'
        ) AS item
    FROM image_data
),

told AS (
    SELECT file, row, item.* FROM parsed
)

SELECT
    told.*,
    listed.split,
    row_number() OVER (PARTITION BY told.coco_id ORDER BY told.image_id, told.file, told.row)
        AS time
FROM told LEFT JOIN listed ON told.coco_id = listed.id
ORDER BY told.image_id, told.file, told.row
