-- The grades that came back, one row a document of a query, beside its sparse judgement.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
