-- Captions and images in the collection's language, and how many of them are used.
WITH counted AS (
    SELECT 'captions' AS step, count(*) AS before, (SELECT count(*) FROM texts) AS after
    FROM entries
    WHERE is_spoken(language, $language)
    UNION ALL
    SELECT 'images' AS step, count(*) AS before, (SELECT count(*) FROM images) AS after
    FROM pictures
)

SELECT step, 'test' AS split, before, before - after AS dropped, after
FROM counted
ORDER BY step
