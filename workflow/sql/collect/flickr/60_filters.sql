-- Pictures with captions in a split, and those that are used as a query's answer.
SELECT
    'usable' AS step,
    pictures.split,
    count(*) AS before,
    count(*) - count(usable.image_id) AS dropped,
    count(usable.image_id) AS after
FROM pictures LEFT JOIN usable ON pictures.image_id = usable.image_id
WHERE pictures.split IS NOT NULL
GROUP BY pictures.split
ORDER BY list_position(['train', 'validation', 'test'], pictures.split)
