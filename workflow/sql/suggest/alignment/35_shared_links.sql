-- How many pages both sections of a pair link to, of pages that are in both languages. A pair is
-- here if either section's links are known.
WITH theirs AS (
    SELECT
        outlines.text_id AS foreign_id,
        counterparts.other AS language,
        counterparts.title
    FROM (SELECT text_id, language, unnest(links) AS link FROM outlines) AS outlines
    LEFT JOIN
        redirects
        ON outlines.language = redirects.language AND outlines.link = redirects.title
    INNER JOIN pages
        ON
            outlines.language = pages.language
            AND coalesce(redirects.target, outlines.link) = pages.title
    INNER JOIN counterparts
        ON pages.language = counterparts.language AND pages.page_id = counterparts.page_id
    SEMI JOIN pairs ON outlines.text_id = pairs.foreign_id
),

ours AS (
    SELECT DISTINCT
        outlines.text_id,
        outlines.language,
        coalesce(redirects.target, outlines.link) AS title
    FROM (SELECT text_id, language, unnest(links) AS link FROM outlines) AS outlines
    LEFT JOIN
        redirects
        ON outlines.language = redirects.language AND outlines.link = redirects.title
    SEMI JOIN pairs ON outlines.text_id = pairs.text_id AND pairs.foreign_id IS NOT NULL
)

SELECT
    pairs.text_id,
    pairs.foreign_id,
    count(DISTINCT theirs.title) FILTER (WHERE ours.title IS NOT NULL) AS shared
FROM pairs
INNER JOIN theirs ON pairs.foreign_id = theirs.foreign_id AND pairs.language = theirs.language
LEFT JOIN ours ON pairs.text_id = ours.text_id AND theirs.title = ours.title
GROUP BY pairs.text_id, pairs.foreign_id
ORDER BY pairs.text_id, pairs.foreign_id
