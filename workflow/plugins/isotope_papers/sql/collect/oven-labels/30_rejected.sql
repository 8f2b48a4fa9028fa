-- Why a labelled picture can't be used; unseen entities are excluded from training by design.
WITH checked AS (
    SELECT
        file, row, line AS raw,
        CASE
            WHEN picture IS NULL OR label = '' THEN 'short_row'
            WHEN split NOT IN ('train', 'validation', 'test') THEN 'unknown_split'
            WHEN image_id IS NULL THEN 'missing_picture'
            WHEN status <> 'success' THEN status
            WHEN text_id IS NULL THEN 'unknown_entity'
            WHEN question IS NULL THEN 'no_question'
            WHEN row_number() OVER (PARTITION BY image_id ORDER BY file, row) > 1
                THEN 'repeated_picture'
            WHEN split = 'train' AND seen = 'unseen' THEN 'unseen_in_training'
        END AS reason,
        coalesce(CASE WHEN image_id IS NULL THEN picture ELSE label END, '') AS detail
    FROM queries
)

SELECT file, row, reason, detail, raw FROM checked WHERE reason IS NOT NULL ORDER BY file, row
