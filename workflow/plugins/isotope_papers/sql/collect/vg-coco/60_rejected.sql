-- Rows that were not used, with the file and the place in its list. Captions, regions and objects
-- of a rejected picture are not listed.
SELECT
    pictured.file,
    pictured.row,
    CASE
        WHEN pictured.split IS NULL THEN 'not_in_coco'
        WHEN pictured.time > 1 THEN 'repeated_picture'
        WHEN pictures.is_ambiguous THEN 'ambiguous_picture'
        WHEN NOT pictures.has_pixels THEN 'missing_picture'
        WHEN pictured.coco_id NOT IN (SELECT s.picture FROM sentences AS s WHERE s.sentence <> '')
            THEN 'no_caption'
        ELSE 'no_region'
    END AS reason,
    coalesce(pictured.image_id::VARCHAR, '') AS detail,
    pictured.url AS raw
FROM pictured
LEFT JOIN pictures ON pictured.file = pictures.file AND pictured.row = pictures.row
ANTI JOIN usable ON pictured.file = usable.file AND pictured.row = usable.row
UNION ALL
SELECT
    file, row, 'not_in_visual_genome' AS reason, id::VARCHAR AS detail, file_name AS raw
FROM listed
WHERE id NOT IN (SELECT p.coco_id FROM pictured AS p WHERE p.coco_id IS NOT NULL)
UNION ALL
SELECT
    file,
    row,
    CASE WHEN picture IN (SELECT l.id FROM listed AS l) THEN 'empty_caption' ELSE 'unknown_picture'
    END AS reason,
    picture::VARCHAR AS detail,
    caption AS raw
FROM sentences
WHERE
    picture NOT IN (SELECT l.id FROM listed AS l)
    OR (sentence = '' AND picture IN (SELECT u.coco_id FROM usable AS u))
UNION ALL
SELECT
    file, row, 'empty_region' AS reason, region_id::VARCHAR AS detail, phrase AS raw
FROM regions
WHERE sentence = '' AND picture IN (SELECT u.picture FROM usable AS u)
UNION ALL
SELECT
    file,
    row,
    CASE WHEN synset IS NULL THEN 'no_synset' ELSE 'no_box' END AS reason,
    coalesce(name, '') AS detail,
    object_id::VARCHAR AS raw
FROM drawn
WHERE
    (synset IS NULL OR x + y + w + h IS NULL)
    AND picture IN (SELECT u.picture FROM usable AS u)
ORDER BY file, row, reason, detail
