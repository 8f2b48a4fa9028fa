-- Where each image's WebP bytes lie and how large the picture is, without the bytes.
SELECT
    parse_path(filename)[-2] AS source,
    * EXCLUDE (filename, webp),
    array_to_string(parse_path(filename)[-4:], '/') AS shard
FROM files
