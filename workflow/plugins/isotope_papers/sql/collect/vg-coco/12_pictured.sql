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

image_rows AS (
    SELECT file, row, item.* FROM parsed
)

SELECT
    image_rows.*,
    listed.split,
    row_number() OVER (
        PARTITION BY image_rows.coco_id
        ORDER BY image_rows.image_id, image_rows.file, image_rows.row
    ) AS time
FROM image_rows LEFT JOIN listed ON image_rows.coco_id = listed.id
ORDER BY image_rows.image_id, image_rows.file, image_rows.row
