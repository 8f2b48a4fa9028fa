-- Pictures of a split, and those that have pixels and captions.
SELECT
    'usable' AS step,
    pictures.split,
    count(*) AS before,
    count(*) - count(usable.image_id) AS dropped,
    count(usable.image_id) AS after
FROM pictures
LEFT JOIN usable ON pictures.file = usable.file AND pictures.row = usable.row
WHERE pictures.split IS NOT NULL
GROUP BY pictures.split
ORDER BY list_position(['train', 'validation', 'test'], pictures.split)
