-- Where a system has the right answer to a query.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
