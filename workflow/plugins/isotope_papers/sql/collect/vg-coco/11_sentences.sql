-- COCO's captions, on one line each.
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
)

SELECT
    file,
    row_number() OVER (PARTITION BY file) AS row,
    item.id,
    item.image_id AS picture,
    item.caption,
    trim(regexp_replace(coalesce(item.caption, ''), '\s+', ' ', 'g')) AS sentence
FROM annotations
ORDER BY item.image_id, item.id
