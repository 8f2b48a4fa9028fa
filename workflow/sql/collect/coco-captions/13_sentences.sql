-- Captions on one line each, in the order of their ids. COCO asks five people for a caption; some
-- pictures have one or two more, which are not used, as in other work ("25k captions").
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(
            document -> 'annotations',
            '[{"id":"BIGINT","image_id":"BIGINT","caption":"VARCHAR"}]'
        ) AS items
    FROM captions
),

annotations AS (
    SELECT file, unnest(items) AS item FROM parsed
),

numbered AS (
    SELECT
        file,
        item.id,
        item.image_id AS picture,
        item.caption,
        row_number() OVER (PARTITION BY file) AS row,
        trim(regexp_replace(coalesce(item.caption, ''), '\s+', ' ', 'g')) AS sentence
    FROM annotations
)

SELECT
    *,
    row_number() OVER (PARTITION BY picture, sentence <> '' ORDER BY id, file, row) AS place
FROM numbered
ORDER BY picture, id
