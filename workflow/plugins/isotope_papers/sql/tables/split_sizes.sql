-- The competition's splits: pictures, captions and known answers.
WITH splits AS (
    SELECT split, count(*) AS pictures FROM images GROUP BY split
),

candidates AS (
    SELECT split, count(*) AS captions FROM texts GROUP BY split
),

judged AS (
    SELECT split, count(*) AS answers FROM qrels GROUP BY split
)

SELECT
    splits.split, splits.pictures,
    coalesce(candidates.captions, 0) AS captions, coalesce(judged.answers, 0) AS answers
FROM splits
LEFT JOIN candidates ON splits.split = candidates.split
LEFT JOIN judged ON splits.split = judged.split
ORDER BY list_position(['train', 'validation', 'test'], splits.split)
