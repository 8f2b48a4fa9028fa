-- What became of every image URL of every source.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
