-- How many articles link to each article of a dump.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
