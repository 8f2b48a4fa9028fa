-- Measures on nested random subsets of the pools.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
