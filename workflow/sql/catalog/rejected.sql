-- What parsing could not use, from which table it is missing, and why.
SELECT
    parse_path(filename)[-2] AS source,
    regexp_replace(parse_path(filename)[-1], '\.rejected\.parquet$', '') AS missing_from,
    * EXCLUDE (filename)
FROM files
