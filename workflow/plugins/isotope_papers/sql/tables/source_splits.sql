-- TICRC (2023), Table I: the challenge's own sets, their pictures, and each type's share of all.
WITH counted AS (
    SELECT split, source_split, count(*) AS pictures FROM images GROUP BY ALL
),

captions AS (
    SELECT split, source_split, count(*) AS captions FROM texts GROUP BY ALL
),

answers AS (
    SELECT images.split, images.source_split, count(*) AS answers
    FROM qrels INNER JOIN images USING (image_id)
    GROUP BY ALL
)

SELECT
    counted.split, counted.source_split, counted.pictures,
    coalesce(captions.captions, 0) AS captions, coalesce(answers.answers, 0) AS answers,
    round(
        100 * sum(counted.pictures) OVER (PARTITION BY counted.split)
        / sum(counted.pictures) OVER (), 1
    ) AS split_percent
FROM counted
LEFT JOIN captions
    ON counted.split = captions.split AND counted.source_split = captions.source_split
LEFT JOIN answers
    ON counted.split = answers.split AND counted.source_split = answers.source_split
ORDER BY list_position(['train', 'validation', 'test'], counted.split), counted.source_split
