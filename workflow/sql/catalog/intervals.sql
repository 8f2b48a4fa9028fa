-- Means with bootstrap intervals, over all queries and over strata of them.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
