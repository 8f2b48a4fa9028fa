-- Line n of expected.tsv answers line n of in.tsv by the number of a caption.
SELECT
    split, folder, row, line,
    try_cast(line AS INT) AS number,
    printf('%s-%s%05d', split, replace(folder, '/', '-'), number) AS text_id
FROM lines
WHERE file = 'expected.tsv'
ORDER BY split, folder, row
