-- What systems built on an earlier collection lose on a later one, by what became of the queries.
SELECT
    parse_path(filename)[-4] AS collection,
    parse_path(filename)[-2] AS built_on,
    * EXCLUDE (filename)
FROM files
