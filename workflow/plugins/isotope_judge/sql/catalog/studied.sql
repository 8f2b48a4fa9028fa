-- What people have said of failures.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
