-- What becomes of a system's value and place when its own documents leave the pool.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
