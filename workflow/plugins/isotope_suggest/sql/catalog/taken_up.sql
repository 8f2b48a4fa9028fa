-- What editors did with a suggestion until a later snapshot.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
