-- What the wikitext of each section has: list items, table rows, references, links.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
