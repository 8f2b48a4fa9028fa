-- The pictures of collections of pairs, by source, which has the collection's name.
SELECT
    parse_path(filename)[-2] AS source,
    image_url
FROM read_parquet($images, filename = TRUE)
