-- The objects of the shared pictures: a name, a synset, and a box in px of Visual Genome's picture.
-- ASSUME an object of several synsets is of the first one: it is one object, and the paper counts
-- objects without saying what it does with those.
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        row,
        from_json(
            line,
            '{"id":"BIGINT","image_id":"BIGINT","objects":[{"object_id":"BIGINT",'
            || '"x":"DOUBLE","y":"DOUBLE","w":"DOUBLE","h":"DOUBLE",'
            || '"names":["VARCHAR"],"synsets":["VARCHAR"]}]}'
        ) AS item
    FROM objects
),

shared AS (
    SELECT
        parsed.file,
        parsed.row,
        coalesce(parsed.item.image_id, parsed.item.id) AS picture,
        unnest(parsed.item.objects) AS object
    FROM parsed
    SEMI JOIN pictured
        ON
            coalesce(parsed.item.image_id, parsed.item.id) = pictured.image_id
            AND pictured.split IS NOT NULL
            AND pictured.time = 1
)

SELECT
    file,
    row,
    picture,
    object.object_id,
    object.names[1] AS name,
    nullif(object.synsets[1], '') AS synset,
    object.x,
    object.y,
    object.w,
    object.h
FROM shared
ORDER BY picture, object.object_id
