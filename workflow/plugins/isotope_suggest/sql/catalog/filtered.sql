-- Candidates that a filter has left out, and why.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
