-- Pictures that may illustrate a section, by what names them.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
