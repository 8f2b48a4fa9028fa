-- Rows that were not used, with the file and the place in its list.
SELECT
    file,
    row,
    CASE
        WHEN is_in_two THEN 'two_splits'
        WHEN split IS NULL THEN 'no_split'
        WHEN is_again THEN 'listed_again'
        WHEN is_ambiguous THEN 'ambiguous_picture'
        WHEN NOT has_pixels THEN 'missing_picture'
        ELSE 'no_caption'
    END AS reason,
    file_name AS detail,
    image_url AS raw
FROM pictures
ANTI JOIN usable ON pictures.file = usable.file AND pictures.row = usable.row
UNION ALL
SELECT
    file,
    row,
    CASE
        WHEN picture NOT IN (SELECT listed.id FROM listed) THEN 'unknown_picture'
        WHEN sentence = '' THEN 'empty_caption'
        ELSE 'beyond_five'
    END AS reason,
    picture::VARCHAR AS detail,
    caption AS raw
FROM sentences
WHERE sentence = '' OR place > 5 OR picture NOT IN (SELECT listed.id FROM listed)
UNION ALL
SELECT
    file,
    row,
    CASE WHEN split IS NULL THEN 'unknown_split' ELSE 'unknown_picture' END AS reason,
    coalesce(picture::VARCHAR, '') AS detail,
    '' AS raw
FROM listed_splits
WHERE split IS NULL OR picture IS NULL OR picture NOT IN (SELECT listed.id FROM listed)
ORDER BY file ASC, row ASC, reason ASC
