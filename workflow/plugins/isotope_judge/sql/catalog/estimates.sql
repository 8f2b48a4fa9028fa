-- The mean of a system by people's grades, by a model's, or by both, with its interval.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
