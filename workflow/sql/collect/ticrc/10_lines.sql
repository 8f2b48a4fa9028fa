-- A folder of the challenge is a part of the source, named by its split; where several are, each
-- is a folder in it.
WITH listed AS (
    SELECT 'train' AS split, file, row, line FROM train
    UNION ALL
    SELECT 'validation' AS split, file, row, line FROM validation
    UNION ALL
    SELECT 'test' AS split, file, row, line FROM test
)

SELECT
    split,
    regexp_extract(file, '^(.*/)?') AS folder,
    regexp_extract(file, '[^/]*$') AS file,
    row,
    line
FROM listed
ORDER BY split, folder, file, row
