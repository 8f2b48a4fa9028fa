-- Each picture: its kind, its use, its licence.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
