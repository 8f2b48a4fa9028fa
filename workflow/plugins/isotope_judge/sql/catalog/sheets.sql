-- What was handed out for judging: queries and pooled documents, as a person reads them.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
