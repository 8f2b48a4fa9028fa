-- Captions on one line each, in the order of their ids: the first is the query, the others describe
-- the picture.
-- ASSUME a picture's first caption is its query: no paper uses COCO alone as its corpus.
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
    row_number() OVER (PARTITION BY picture, sentence <> '' ORDER BY id) AS place
FROM numbered
ORDER BY picture, id
