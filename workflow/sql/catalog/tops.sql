-- The first hits of the runs on the largest pool.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
