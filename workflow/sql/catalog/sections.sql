-- Every section of every article of every dump.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
