-- Annotated objects with the synset of their category, corners in px.
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(
            document -> 'annotations',
            '[{"id":"BIGINT","image_id":"BIGINT","category_id":"BIGINT",'
            || '"bbox":["DOUBLE"],"iscrowd":"INTEGER"}]'
        ) AS items
    FROM instances
),

annotations AS (
    SELECT file, unnest(items) AS item FROM parsed
),

category_names AS (
    SELECT unnest(json_keys(document)) AS name, document FROM synsets
),

category_synsets AS (
    SELECT name, document -> name ->> 'synset' AS synset FROM category_names
),

categories AS (
    SELECT DISTINCT
        unnest(from_json(document -> 'categories', '[{"id":"BIGINT","name":"VARCHAR"}]')) AS item
    FROM instances
)

SELECT
    annotations.file,
    row_number() OVER (PARTITION BY annotations.file) AS row,
    annotations.item.id,
    annotations.item.image_id AS picture,
    categories.item.name AS category,
    category_synsets.synset,
    annotations.item.bbox,
    coalesce(annotations.item.iscrowd, 0) = 1 AS is_crowd
FROM annotations
LEFT JOIN categories ON annotations.item.category_id = categories.item.id
LEFT JOIN category_synsets ON categories.item.name = category_synsets.name
ORDER BY annotations.item.image_id, annotations.item.id
