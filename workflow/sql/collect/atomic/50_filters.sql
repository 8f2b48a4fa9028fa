-- The collection was filtered before publication: the pairs dropped here lack their text, or have a
-- missing or broken picture. Of a pair that several lists judge in one split, one judgement counts.
WITH counted AS (
    SELECT
        split,
        count(*) AS judgements,
        count(*) FILTER (
            image_id IN (SELECT alive.image_id FROM alive)
            AND text_id IN (SELECT known_texts.text_id FROM known_texts)
        ) AS known,
        count(*) FILTER (
            place > 1
            AND image_id IN (SELECT alive.image_id FROM alive)
            AND text_id IN (SELECT known_texts.text_id FROM known_texts)
        ) AS again
    FROM graded
    GROUP BY split
),

steps AS (
    SELECT 'published' AS step, split, judgements AS before, known AS after FROM counted
    UNION ALL
    SELECT 'judged_again' AS step, split, known AS before, known - again AS after
    FROM counted
    WHERE again > 0
)

SELECT step, split, before, before - after AS dropped, after
FROM steps
ORDER BY
    list_position(['published', 'judged_again'], step),
    list_position(['train', 'validation', 'test'], split)
