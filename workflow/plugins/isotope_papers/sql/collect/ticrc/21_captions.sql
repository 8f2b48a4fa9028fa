-- One row a line of captions.tsv: a number, a tab, and a caption whose line ends are written \n.
SELECT
    split, source_split, folder, row, line,
    try_cast(split_part(line, chr(9), 1) AS INT) AS number,
    printf('%s-%s%05d', split, replace(folder, '/', '-'), number) AS text_id,
    CASE
        WHEN contains(line, chr(9))
            THEN trim(replace(substr(line, strpos(line, chr(9)) + 1), '\n', chr(10)))
    END AS caption
FROM lines
WHERE file = 'captions.tsv'
ORDER BY split, folder, row
