-- Lines and pictures that were not used; a picture has the place of its first line.
SELECT
    file,
    row,
    CASE
        WHEN name IS NULL THEN 'broken_line'
        WHEN sentence = '' THEN 'empty_caption'
        ELSE 'repeated_caption'
    END AS reason,
    coalesce(name, '') AS detail,
    line AS raw
FROM descriptions
WHERE name IS NULL OR sentence = '' OR time > 1
UNION ALL
SELECT
    pictures.file,
    pictures.row,
    CASE
        WHEN pictures.split IS NULL THEN 'no_split'
        WHEN pictures.is_ambiguous THEN 'ambiguous_picture'
        WHEN pictures.has_pixels THEN 'too_few_captions'
        ELSE 'missing_picture'
    END AS reason,
    pictures.name AS detail,
    pictures.image_url AS raw
FROM pictures ANTI JOIN usable ON pictures.image_id = usable.image_id
UNION ALL
SELECT
    file,
    row,
    'unknown_picture' AS reason,
    name AS detail,
    name AS raw
FROM divided
WHERE name NOT IN (SELECT p.name FROM pictures AS p)
ORDER BY file, row, reason, detail
