-- A part of the source is a split of the collection. It has one or more of the challenge's own
-- sets: train, train2, dev-0, test-A, test-B, the folders in the addresses of their files.
-- `source_splits` chooses some.
WITH all_lines AS (
    SELECT 'train' AS split, file, row, line FROM train
    UNION ALL
    SELECT 'validation' AS split, file, row, line FROM validation
    UNION ALL
    SELECT 'test' AS split, file, row, line FROM test
),

addressed AS (
    SELECT
        all_lines.*,
        coalesce(
            nullif(regexp_extract(acquired.address, '([^/]*)/[^/]*$', 1), ''), all_lines.split
        ) AS source_split
    FROM all_lines
    LEFT JOIN acquired ON all_lines.split = acquired.part AND all_lines.file = acquired.file
)

SELECT
    split,
    source_split,
    regexp_extract(file, '^(.*/)?') AS folder,
    regexp_extract(file, '[^/]*$') AS file,
    row,
    line
FROM addressed
WHERE coalesce(list_contains($source_splits::VARCHAR[], source_split), TRUE)
ORDER BY split, folder, file, row
