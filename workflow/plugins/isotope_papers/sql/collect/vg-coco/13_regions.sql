-- The region descriptions of the shared pictures, on one line each, in the order of their ids. A
-- picture's id is `id` in the published files, `image_id` in their documentation.
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        row,
        from_json(
            line,
            '{"id":"BIGINT","image_id":"BIGINT",'
            || '"regions":[{"region_id":"BIGINT","phrase":"VARCHAR"}]}'
        ) AS item
    FROM region_descriptions
),

shared AS (
    SELECT
        parsed.file,
        parsed.row,
        coalesce(parsed.item.image_id, parsed.item.id) AS picture,
        unnest(parsed.item.regions) AS region
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
    region.region_id,
    region.phrase,
    trim(regexp_replace(coalesce(region.phrase, ''), '\s+', ' ', 'g')) AS sentence
FROM shared
ORDER BY picture, region.region_id
