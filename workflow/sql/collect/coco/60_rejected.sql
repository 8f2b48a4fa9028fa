-- Rows that were not used, with the file and the place in its list. Crowds are among them.
SELECT
    pictures.file,
    pictures.row,
    CASE
        WHEN pictures.is_ambiguous THEN 'ambiguous_picture'
        WHEN pictures.has_pixels THEN 'too_few_captions'
        ELSE 'missing_picture'
    END AS reason,
    pictures.file_name AS detail,
    pictures.image_url AS raw
FROM pictures ANTI JOIN usable ON pictures.image_id = usable.image_id
UNION ALL
SELECT
    file,
    row,
    CASE WHEN picture IN (SELECT listed.id FROM listed) THEN 'empty_caption' ELSE 'unknown_picture'
    END AS reason,
    picture::VARCHAR AS detail,
    caption AS raw
FROM sentences
WHERE sentence = '' OR picture NOT IN (SELECT listed.id FROM listed)
UNION ALL
SELECT
    file,
    row,
    CASE
        WHEN is_crowd THEN 'crowd'
        WHEN synset IS NULL THEN 'category_without_synset'
        WHEN coalesce(len(bbox), 0) <> 4 THEN 'no_box'
        ELSE 'unknown_picture'
    END AS reason,
    coalesce(category, '') AS detail,
    bbox::VARCHAR AS raw
FROM boxes
WHERE
    is_crowd OR synset IS NULL OR coalesce(len(bbox), 0) <> 4
    OR picture NOT IN (SELECT listed.id FROM listed)
ORDER BY file, row, reason
