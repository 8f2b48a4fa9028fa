-- One row a line of the annotations; the gallery has fewer keys than the published files.
WITH parsed AS (
    SELECT file, row, line, CASE WHEN json_valid(line) THEN line::JSON END AS record
    FROM queries
    WHERE trim(line) <> ''
),

fields AS (
    SELECT
        file, row, line, record IS NOT NULL AS valid,
        record ->> '$.data_id' AS data_id,
        coalesce(record ->> '$.image', record ->> '$.image_id') AS picture,
        nullif(trim(record ->> '$.question'), '') AS question,
        record ->> '$.entity_id' AS entity_id,
        concat_ws(' ', record ->> '$.data_split', record ->> '$.data_id') AS label
    FROM parsed
)

SELECT
    file, row, line, valid, coalesce(data_id, picture) AS data_id, picture, question, entity_id,
    CASE
        WHEN contains(label, 'human') THEN 'test'
        WHEN contains(label, 'train') THEN 'train'
        WHEN contains(label, 'val') THEN 'validation'
        ELSE 'test'
    END AS split,
    CASE
        WHEN contains(label, 'human') THEN 'human'
        WHEN contains(label, 'query') THEN 'query'
        WHEN contains(label, 'entity') THEN 'entity'
    END AS subset,
    nullif(regexp_extract(label, '(un)?seen'), '') AS seen
FROM fields
ORDER BY file, row
