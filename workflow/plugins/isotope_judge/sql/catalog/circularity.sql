-- What a model raises a system of its own by above people's grades, beside the others.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
