-- The same page in other languages, by the codes of their wikis. A language link counts both ways.
WITH named AS (
    SELECT
        language,
        page_id,
        unnest(languages) AS link
    FROM outlines
    WHERE place = 0
),

linked AS (
    SELECT
        language,
        page_id,
        split_part(link, ':', 1) AS other,
        substr(link, strpos(link, ':') + 1) AS title
    FROM named
    UNION ALL
    SELECT
        language,
        page_id,
        other,
        title
    FROM langlinks
),

there AS (
    SELECT
        language,
        page_id,
        wiki_language(other) AS other,
        title
    FROM linked
    WHERE wiki_language(other) NOT IN (wiki_language(language), '') AND title <> ''
),

back AS (
    SELECT
        theirs.language,
        theirs.page_id,
        wiki_language(ours.language) AS other,
        ours.title
    FROM there
    INNER JOIN pages AS theirs
        ON there.other = wiki_language(theirs.language) AND there.title = theirs.title
    INNER JOIN pages AS ours ON there.language = ours.language AND there.page_id = ours.page_id
)

SELECT * FROM there
UNION
SELECT * FROM back
ORDER BY language, page_id, other, title
