-- Every row of WIT that could be read, with its file and row.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
