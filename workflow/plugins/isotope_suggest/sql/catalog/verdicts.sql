-- What people said of suggestions, as relevance: 2 good, 1 okay, 0 not.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
