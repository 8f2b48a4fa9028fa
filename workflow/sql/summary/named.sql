-- The names of pictures in rows of pairs, by source, without folder and suffix.
SELECT DISTINCT
    parse_path(filename)[-2] AS source,
    regexp_replace(
        regexp_extract(image_url, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
    ) AS stem
FROM read_parquet($pairs, filename = TRUE)
WHERE image_url IS NOT NULL
