-- What each system suggests for a section, after the filters.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
