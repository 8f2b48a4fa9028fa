-- How many pages both sections of a pair link to, of pages that are in both languages. A pair is
-- here if either section's links are known.
WITH linked AS (
    SELECT
        links.text_id,
        links.language,
        titles.page_id,
        titles.title
    FROM (SELECT text_id, language, unnest(links) AS link FROM outlines) AS links
    INNER JOIN titles ON links.language = titles.language AND links.link = titles.link
),

theirs AS (
    SELECT
        linked.text_id AS foreign_id,
        counterparts.other AS language,
        counterparts.title
    FROM linked
    INNER JOIN counterparts
        ON linked.language = counterparts.language AND linked.page_id = counterparts.page_id
    SEMI JOIN pairs ON linked.text_id = pairs.foreign_id
),

ours AS (
    SELECT DISTINCT
        linked.text_id,
        linked.title
    FROM linked
    SEMI JOIN pairs ON linked.text_id = pairs.text_id AND pairs.foreign_id IS NOT NULL
)

SELECT
    pairs.text_id,
    pairs.foreign_id,
    count(DISTINCT theirs.title) FILTER (WHERE ours.title IS NOT NULL) AS shared
FROM pairs
INNER JOIN theirs
    ON
        pairs.foreign_id = theirs.foreign_id
        AND wiki_language(pairs.language) = theirs.language
LEFT JOIN ours ON pairs.text_id = ours.text_id AND theirs.title = ours.title
GROUP BY pairs.text_id, pairs.foreign_id
ORDER BY pairs.text_id, pairs.foreign_id
