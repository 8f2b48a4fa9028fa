-- Pairs that are used; where the first text of a picture in each language alone is one of the
-- collection, the others represent the picture.
WITH ordered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY image_id, language ORDER BY relevance = 0, file, row, nth
        ) AS place
    FROM judged
    WHERE reason IS NULL
)

SELECT
    file, row, nth, name, image_id, text_id, text, language, split, relevance,
    coalesce($texts, 'all') = 'first' AND place > 1 AS represents
FROM ordered
ORDER BY file, row, nth
