-- Suggestions that are sure enough, as a wiki gets them.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
