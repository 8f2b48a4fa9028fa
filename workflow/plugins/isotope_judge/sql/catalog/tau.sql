-- How alike sparse and graded judgements rank the systems: Kendall's tau.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
