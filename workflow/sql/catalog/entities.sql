-- What Wikidata says of each article of a dump: names, pictures, category and classes.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
