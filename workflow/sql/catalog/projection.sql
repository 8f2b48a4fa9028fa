-- Which section of the dump each text of the source was found in, how, and how surely.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
