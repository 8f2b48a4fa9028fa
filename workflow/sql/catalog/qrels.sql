-- Every judgement of every collection: the section carries the image.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
