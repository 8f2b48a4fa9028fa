-- How alike people and a model rank the systems: Kendall's tau.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
