-- Every row, and why it can't be used. An id means the first picture, or text, that comes with it;
-- a row that says otherwise, or says the same pair again, is set aside.
WITH texts AS (
    SELECT text_id, arg_min(text, (file, row)) AS text
    FROM divided
    WHERE text IS NOT NULL
    GROUP BY text_id
),

-- A judgement names ids alone, and may name one that no other row knows.
described AS (
    SELECT DISTINCT image_id
    FROM divided
    WHERE
        image_id IS NOT NULL
        AND (
            own_image IS NOT NULL OR text IS NOT NULL OR len(caption) > 0
            OR source_text_id IS NULL
        )
),

checked AS (
    SELECT
        divided.*,
        CASE
            WHEN flaw IS NOT NULL THEN flaw
            WHEN image IS NULL AND source_text_id IS NULL THEN 'no_picture'
            WHEN divided.image_id IS NOT NULL AND described.image_id IS NULL THEN 'no_picture'
            WHEN divided.text_id IS NULL AND divided.image_id IS NULL THEN 'no_text'
            WHEN divided.text_id IS NOT NULL AND texts.text IS NULL THEN 'no_text'
            WHEN image <> first_image THEN 'duplicate_image_id'
            WHEN divided.text <> texts.text THEN 'duplicate_text_id'
            WHEN len(list_splits) > 1 THEN 'mixed_splits'
            WHEN is_pair AND split IS NULL AND source_split IS NOT NULL THEN 'unknown_split'
            WHEN is_pair AND split IS NULL THEN 'no_split'
        END AS flawed
    FROM divided
    LEFT JOIN texts ON divided.text_id = texts.text_id
    LEFT JOIN described ON divided.image_id = described.image_id
),

repeated AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY
                image,
                CASE WHEN source_text_id IS NULL THEN text ELSE text_id END,
                CASE WHEN text IS NULL THEN split END
            ORDER BY (flawed IS NOT NULL), file, row, nth
        ) AS time
    FROM checked
)

SELECT
    * EXCLUDE (flawed, time, flaw),
    CASE WHEN flawed IS NULL AND is_pair AND time > 1 THEN 'repeated_pair' ELSE flawed END AS reason
FROM repeated
ORDER BY file, row, nth
