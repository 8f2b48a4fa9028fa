-- First answers that are not the right one, explained by the objects in both pictures.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
