-- What each filter kept and dropped, per collection and split.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
