-- What each template of a wiki shows, and how often articles call it.
SELECT parse_path(filename)[-2] AS source, * EXCLUDE (filename) FROM files
