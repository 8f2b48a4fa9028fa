-- The split of each row: by the hash of its pictures that hang together, by the list that names
-- its picture or text, by its own column. Lists name pictures with or without folder and suffix,
-- but the very name counts first.
-- ASSUME pairs without any split are a test set; no file says which of them may be learned from.
WITH exact_names AS (
    SELECT file_url(line) AS name, list(DISTINCT split ORDER BY split) AS splits
    FROM lists
    GROUP BY line
),

stems AS (
    SELECT
        regexp_replace(
            regexp_extract(line, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS stem,
        list(DISTINCT split ORDER BY split) AS splits
    FROM lists
    GROUP BY stem
),

places AS (
    SELECT image, ('0x' || md5($seed || '/' || root)[1:8])::UBIGINT / 4294967296 AS place
    FROM groups
),

found AS (
    SELECT
        named.*,
        places.place,
        lower(named.split) AS written,
        coalesce(
            by_image.splits, by_image_id.splits, by_text_id.splits, stems.splits
        ) AS list_splits,
        named.image IS NOT NULL AND named.text_id IS NOT NULL AS is_pair
    FROM named
    LEFT JOIN places ON named.image = places.image
    LEFT JOIN exact_names AS by_image ON named.image = by_image.name
    LEFT JOIN exact_names AS by_image_id ON named.image_id = by_image_id.name
    LEFT JOIN exact_names AS by_text_id ON named.source_text_id = by_text_id.name
    LEFT JOIN stems
        ON stems.stem = regexp_replace(
            regexp_extract(named.image, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        )
)

SELECT
    * EXCLUDE (split, written, place),
    split AS source_split,
    CASE
        WHEN $by_hash AND place < $test THEN 'test'
        WHEN $by_hash AND place < $test + $validation THEN 'validation'
        WHEN $by_hash AND place IS NOT NULL THEN 'train'
        WHEN $by_hash THEN NULL
        WHEN (SELECT count(*) FROM lists) > 0 THEN list_splits[1]
        WHEN written IN ('train', 'training', 'restval') THEN 'train'
        WHEN written IN ('validation', 'valid', 'val', 'dev', 'development') THEN 'validation'
        WHEN written IN ('test', 'testing') THEN 'test'
        WHEN is_pair AND NOT $in_data THEN 'test'
    END AS split
FROM found
ORDER BY file, row, nth
