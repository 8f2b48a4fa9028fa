-- A folder of the challenge is a part of the source, named by its split.
SELECT 'train' AS split, file, row, line FROM train
UNION ALL
SELECT 'validation' AS split, file, row, line FROM validation
UNION ALL
SELECT 'test' AS split, file, row, line FROM test
ORDER BY split, file, row
