-- The grade that a model gives a pooled document of a query.
SELECT parse_path(filename)[-3] AS collection, * EXCLUDE (filename) FROM files
