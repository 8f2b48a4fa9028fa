-- The split of each picture: of Karpathy's file (Karpathy and Li, CVPR 2015), whose `restval` are
-- training pictures, and of files with an id a line, whose name says their split. A line may have
-- more than the id, which is its last number.
WITH parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(document -> 'images', '[{"cocoid":"BIGINT","split":"VARCHAR"}]') AS items
    FROM karpathy
),

karpathy_images AS (
    SELECT file, unnest(items) AS item FROM parsed
),

split_rows AS (
    SELECT file, row_number() OVER (PARTITION BY file) AS row, item.cocoid AS picture, item.split
    FROM karpathy_images
    UNION ALL
    SELECT
        file, row, regexp_extract(line, '(\d+)\D*$', 1)::BIGINT AS picture,
        regexp_extract(lower(regexp_extract(file, '[^/]+$')), 'train|restval|val|test') AS split
    FROM ids
    WHERE regexp_matches(line, '\d')
)

SELECT
    file, row, picture,
    CASE
        WHEN split IN ('train', 'restval') THEN 'train'
        WHEN split IN ('val', 'validation') THEN 'validation'
        WHEN split = 'test' THEN 'test'
    END AS split
FROM split_rows
ORDER BY picture, file, row
