-- Where each image's WebP bytes lie and how large the picture is, without the bytes.
SELECT
    parse_path(filename)[-2] AS source,
    * EXCLUDE (filename, webp),
    filename AS shard
FROM files
