-- Each section: whether it has a picture, and how probably it ought to have one.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
