-- Every text (a section of a page) of every collection.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
