-- The crawled picture of each name: the one of this very address, or else the nearest of the same
-- stem: its path ends with the name, the name ends with its path (the longer the nearer), its file
-- is called so, or is but for the suffix. Letters with accents are compared in composed form (NFC),
-- which tools of macOS do not write, and a backslash of Windows parts folders. Where nothing was
-- crawled, no picture is missing. A picture that was published with an id has it instead of its
-- address's, and is WebP, whatever the address tells (AToMiC, section 4.3); where it has no
-- address, its name is the id.
WITH names AS (
    SELECT image_url AS name, min(image_id) AS published_id
    FROM pairs
    WHERE image_url IS NOT NULL
    GROUP BY image_url
),

pictures AS (
    SELECT urls.image_url, urls.image_id, ledger.* EXCLUDE (image_url)
    FROM urls LEFT JOIN ledger ON urls.image_url = ledger.image_url
),

exact_names AS (
    SELECT names.name, pictures.*
    FROM names INNER JOIN pictures ON names.name = pictures.image_url
),

asked AS (
    SELECT
        *,
        nfc_normalize(replace(name, '\', '/')) AS path,
        regexp_extract(path, '[^/]+$') AS file,
        regexp_replace(file, '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i') AS stem
    FROM names
    ANTI JOIN urls ON names.name = urls.image_url
),

crawled AS (
    SELECT
        *,
        nfc_normalize(image_url) AS path,
        regexp_extract(path, '[^/]+$') AS file,
        regexp_replace(file, '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i') AS stem
    FROM pictures
),

near_names AS (
    SELECT
        asked.name,
        crawled.* EXCLUDE (path, file, stem),
        CASE
            WHEN ends_with(crawled.path, '/' || asked.path) THEN 1
            WHEN ends_with(asked.path, '/' || crawled.path)
                THEN 2 - length(crawled.path) / length(asked.path)
            WHEN crawled.file = asked.file THEN 2
            ELSE 3
        END AS distance
    FROM asked INNER JOIN crawled ON asked.stem = crawled.stem
),

nearest AS (
    SELECT * EXCLUDE (distance)
    FROM near_names
    QUALIFY rank() OVER (PARTITION BY name ORDER BY distance) = 1
),

chosen AS (
    SELECT *, FALSE AS is_ambiguous FROM exact_names
    UNION ALL
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
    coalesce(chosen.image_url, nullif(names.name, names.published_id)) AS image_url,
    coalesce(names.published_id, chosen.image_id, url_uuid(names.name)) AS image_id,
    names.published_id IS NOT NULL AS is_published,
    chosen.width,
    chosen.height,
    chosen.sha256,
    coalesce(
        chosen.content_type,
        'image/' || CASE
            WHEN NOT is_published
                THEN replace(
                    lower(regexp_extract(names.name, '[.](jpe?g|png|webp|gif|bmp|tiff?)$', 1, 'i')),
                    'jpg', 'jpeg'
                )
            WHEN chosen.sha256 IS NOT NULL THEN 'webp'
        END
    ) AS mime_type,
    CASE
        WHEN (SELECT count(*) FROM urls) = 0 THEN NULL
        WHEN chosen.image_url IS NULL THEN 'missing_picture'
        WHEN chosen.is_ambiguous THEN 'ambiguous_picture'
        WHEN chosen.status <> 'success' THEN chosen.status
    END AS problem
FROM names LEFT JOIN chosen ON names.name = chosen.name
ORDER BY names.name
