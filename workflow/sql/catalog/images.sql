-- Every image of every collection; pixels stay in the crawl's shards.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
