-- Every system's ranking of documents for every query.
SELECT
    parse_path(filename)[-5] AS collection,
    parse_path(filename)[-4] AS setting,
    parse_path(filename)[-3] AS split,
    parse_path(filename)[-2] AS task,
    regexp_replace(parse_path(filename)[-1], '\.parquet$', '') AS system,
    * EXCLUDE (filename)
FROM files
