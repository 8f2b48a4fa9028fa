-- Line n of expected.tsv answers line n of in.tsv by the number of a caption.
SELECT split, row, line, try_cast(line AS INT) AS number
FROM lines
WHERE file = 'expected.tsv'
ORDER BY split, row
