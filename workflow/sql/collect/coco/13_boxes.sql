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

drawn AS (
    SELECT file, unnest(items) AS item FROM parsed
),

named AS (
    SELECT unnest(json_keys(document)) AS name, document FROM synsets
),

meant AS (
    SELECT name, document -> name ->> 'synset' AS synset FROM named
),

categories AS (
    SELECT DISTINCT
        unnest(from_json(document -> 'categories', '[{"id":"BIGINT","name":"VARCHAR"}]')) AS item
    FROM instances
)

SELECT
    drawn.file,
    row_number() OVER (PARTITION BY drawn.file) AS row,
    drawn.item.id,
    drawn.item.image_id AS picture,
    categories.item.name AS category,
    meant.synset,
    drawn.item.bbox,
    coalesce(drawn.item.iscrowd, 0) = 1 AS is_crowd
FROM drawn
LEFT JOIN categories ON drawn.item.category_id = categories.item.id
LEFT JOIN meant ON categories.item.name = meant.name
ORDER BY drawn.item.image_id, drawn.item.id
