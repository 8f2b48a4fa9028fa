-- The crawled picture of each name: the one of this very address, or else the nearest of the same
-- stem: its path ends with the name, its file is called so, or is but for the suffix. Where nothing
-- was crawled, no picture is missing.
WITH names AS (
    SELECT
        image_url AS name,
        regexp_replace(
            regexp_extract(image_url, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS stem
    FROM pairs
    WHERE image_url IS NOT NULL
    GROUP BY image_url
),

pictures AS (
    SELECT
        urls.image_url,
        urls.image_id,
        ledger.* EXCLUDE (image_url),
        regexp_replace(
            regexp_extract(urls.image_url, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS stem
    FROM urls LEFT JOIN ledger ON urls.image_url = ledger.image_url
),

exact_names AS (
    SELECT names.name, pictures.*, 0 AS distance
    FROM names INNER JOIN pictures ON names.name = pictures.image_url
),

near_names AS (
    SELECT
        names.name,
        pictures.*,
        CASE
            WHEN ends_with(pictures.image_url, '/' || names.name) THEN 1
            WHEN
                regexp_extract(pictures.image_url, '[^/]+$') = regexp_extract(names.name, '[^/]+$')
                THEN 2
            ELSE 3
        END AS distance
    FROM names
    ANTI JOIN exact_names ON names.name = exact_names.name
    INNER JOIN pictures ON names.stem = pictures.stem
),

candidates AS (
    SELECT * FROM exact_names
    UNION ALL
    SELECT * FROM near_names
),

nearest AS (
    SELECT *
    FROM candidates
    QUALIFY rank() OVER (PARTITION BY name ORDER BY distance) = 1
),

chosen AS (
    SELECT
        *,
        coalesce(
            min(upstream_sha256) OVER same_name <> max(upstream_sha256) OVER same_name, FALSE
        ) AS is_ambiguous
    FROM nearest
    WINDOW same_name AS (PARTITION BY name)
    QUALIFY
        row_number() OVER (
            PARTITION BY name ORDER BY (status = 'success') DESC NULLS LAST, image_url ASC
        ) = 1
)

SELECT
    names.name,
    coalesce(chosen.image_url, names.name) AS image_url,
    coalesce(chosen.image_id, url_uuid(names.name)) AS image_id,
    chosen.width,
    chosen.height,
    chosen.sha256,
    coalesce(
        chosen.content_type,
        'image/' || replace(
            lower(regexp_extract(names.name, '[.](jpe?g|png|webp|gif|bmp|tiff?)$', 1, 'i')),
            'jpg', 'jpeg'
        )
    ) AS mime_type,
    CASE
        WHEN (SELECT count(*) FROM urls) = 0 THEN NULL
        WHEN chosen.image_url IS NULL THEN 'missing_picture'
        WHEN chosen.is_ambiguous THEN 'ambiguous_picture'
        WHEN chosen.status <> 'success' THEN chosen.status
    END AS problem
FROM names LEFT JOIN chosen ON names.name = chosen.name
ORDER BY names.name
