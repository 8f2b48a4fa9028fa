-- How far two assessors agree: Cohen's kappa.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
