-- A part of the source is a split of ours, of one or more of the challenge's own sets: train,
-- train2, dev-0, test-A, test-B, the folders in the addresses of their files. `source_splits`
-- chooses some.
WITH listed AS (
    SELECT 'train' AS split, file, row, line FROM train
    UNION ALL
    SELECT 'validation' AS split, file, row, line FROM validation
    UNION ALL
    SELECT 'test' AS split, file, row, line FROM test
),

placed AS (
    SELECT
        listed.*,
        coalesce(
            nullif(regexp_extract(acquired.address, '([^/]*)/[^/]*$', 1), ''), listed.split
        ) AS source_split
    FROM listed
    LEFT JOIN acquired ON listed.split = acquired.part AND listed.file = acquired.file
)

SELECT
    split,
    source_split,
    regexp_extract(file, '^(.*/)?') AS folder,
    regexp_extract(file, '[^/]*$') AS file,
    row,
    line
FROM placed
WHERE coalesce(list_contains($source_splits::VARCHAR[], source_split), TRUE)
ORDER BY split, folder, file, row
