-- Why a line can't be used; of a repeated entity or query the first is used. Queries of the test
-- set have no answers, and are used all the same.
WITH entity_ids AS (
    SELECT DISTINCT entity_id FROM knowledge_base WHERE name IS NOT NULL
),

checked AS (
    SELECT
        annotations.file, annotations.row, annotations.line AS raw,
        CASE
            WHEN NOT annotations.valid OR annotations.data_id IS NULL THEN 'bad_json'
            WHEN annotations.question IS NULL THEN 'empty_question'
            WHEN pictures.key IS NULL THEN 'missing_picture'
            WHEN pictures.status <> 'success' THEN pictures.status
            WHEN annotations.entity_id IS NULL AND annotations.split <> 'test' THEN 'no_answer'
            WHEN annotations.entity_id IS NOT NULL AND entity_ids.entity_id IS NULL
                THEN 'unknown_entity'
            WHEN
                row_number() OVER (
                    PARTITION BY annotations.data_id ORDER BY annotations.file, annotations.row
                ) > 1
                THEN 'repeated_query'
        END AS reason,
        coalesce(
            CASE WHEN pictures.key IS NULL THEN annotations.picture ELSE annotations.entity_id END,
            ''
        ) AS detail
    FROM annotations
    LEFT JOIN pictures ON annotations.picture = pictures.key
    LEFT JOIN entity_ids ON annotations.entity_id = entity_ids.entity_id
    UNION ALL
    SELECT
        file, row, line AS raw,
        CASE
            WHEN NOT valid OR entity_id IS NULL THEN 'bad_json'
            WHEN name IS NULL THEN 'empty_name'
            WHEN row_number() OVER (PARTITION BY entity_id ORDER BY file, row) > 1
                THEN 'repeated_entity'
        END AS reason,
        coalesce(entity_id, '') AS detail
    FROM knowledge_base
)

SELECT file, row, reason, detail, raw FROM checked WHERE reason IS NOT NULL ORDER BY file, row
