-- How far a model grades as people do: Cohen's kappa.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
