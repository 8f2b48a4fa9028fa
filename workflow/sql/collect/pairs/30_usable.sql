-- Pairs that are used; where the first text of a picture in each language alone is one of the
-- collection, or those in its language, the others represent the picture. A translation has the tag
-- of BCP 47's extension T (RFC 6497), as `en-t-de`, English from German: it is no text, and one
-- from the collection's language does not represent the picture either.
WITH ordered AS (
    SELECT
        *,
        regexp_extract(language, '-t-(.+)$', 1) AS origin,
        row_number() OVER (
            PARTITION BY image_id, language ORDER BY relevance = 0, number, file, row, nth
        ) AS place
    FROM judged
    WHERE reason IS NULL
)

SELECT
    file, row, nth, number, name, image_id, text_id, text, language, split, relevance,
    CASE $texts
        WHEN 'first' THEN place > 1
        WHEN 'first-of-several' THEN place > 1
        WHEN 'language' THEN NOT is_spoken(language, $language) OR origin <> ''
        ELSE FALSE
    END AS represents
FROM ordered
WHERE coalesce($texts, 'all') <> 'language' OR origin = '' OR NOT is_spoken(origin, $language)
ORDER BY file, row, nth
