-- A section of ours beside one with pictures on the same page of another language, and what speaks
-- for the pair: headings of the same words, and how many links the sections share. A pair teaches
-- if our page shows a picture of the other section at all; `is_same` says that this section does.
-- What our own sections show (`visible`) is without the sections whose pictures are hidden.
WITH shown AS (
    SELECT text_id, image_id FROM placed
    UNION
    SELECT text_id, image_id FROM qrels
),

visible AS (
    SELECT shown.text_id, shown.image_id
    FROM shown ANTI JOIN hidden ON shown.text_id = hidden.text_id
),

ours AS (
    SELECT
        outlines.text_id,
        outlines.language,
        outlines.page_id,
        if(outlines.place = 0, '', lower(trim(coalesce(outlines.heading, '')))) AS words,
        outlines.text_id IN (SELECT text_id FROM asked) AS is_asked,
        outlines.text_id IN (SELECT text_id FROM hidden) AS is_hidden
    FROM outlines
),

theirs AS (
    SELECT
        c.language,
        c.page_id,
        elsewhere.language AS other,
        elsewhere.title,
        elsewhere.heading,
        elsewhere.words,
        min(elsewhere.foreign_id) AS foreign_id,
        list(elsewhere.image_id) AS pictures
    FROM counterparts AS c
    INNER JOIN elsewhere ON c.other = elsewhere.language AND c.title = elsewhere.title
    GROUP BY ALL
),

own_pictures AS (
    SELECT
        outlines.text_id,
        any_value(outlines.language) AS language,
        any_value(outlines.page_id) AS page_id,
        list(visible.image_id) AS pictures
    FROM visible
    INNER JOIN outlines ON visible.text_id = outlines.text_id
    GROUP BY outlines.text_id
),

page_pictures AS (
    SELECT
        language,
        page_id,
        flatten(list(pictures)) AS pictures
    FROM own_pictures
    GROUP BY language, page_id
),

pairs AS MATERIALIZED (
    SELECT
        ours.text_id,
        ours.language,
        ours.page_id,
        ours.words AS own_words,
        theirs.other,
        theirs.title,
        theirs.heading,
        theirs.words,
        theirs.foreign_id,
        ours.is_asked,
        NOT ours.is_hidden
        AND coalesce(list_has_any(theirs.pictures, page_pictures.pictures), FALSE) AS teaches,
        coalesce(list_has_any(theirs.pictures, own_pictures.pictures), FALSE) AS is_same
    FROM ours
    INNER JOIN theirs ON ours.language = theirs.language AND ours.page_id = theirs.page_id
    LEFT JOIN own_pictures ON ours.text_id = own_pictures.text_id
    LEFT JOIN page_pictures
        ON ours.language = page_pictures.language AND ours.page_id = page_pictures.page_id
    WHERE ours.is_asked OR (teaches AND NOT (ours.words = '' AND theirs.words = ''))
),

-- How many pages both sections of a pair link to, of pages that are in both languages
-- (`shared_links`). A pair is here if either section's links are known.
link_targets AS (
    SELECT
        links.text_id,
        links.language,
        titles.page_id,
        titles.title
    FROM (SELECT text_id, language, unnest(links) AS link FROM outlines) AS links
    INNER JOIN titles ON links.language = titles.language AND links.link = titles.link
),

their_links AS (
    SELECT
        link_targets.text_id AS foreign_id,
        counterparts.other AS language,
        counterparts.title
    FROM link_targets
    INNER JOIN counterparts
        ON
            link_targets.language = counterparts.language
            AND link_targets.page_id = counterparts.page_id
    SEMI JOIN pairs ON link_targets.text_id = pairs.foreign_id
),

our_links AS (
    SELECT DISTINCT
        link_targets.text_id,
        link_targets.title
    FROM link_targets
    SEMI JOIN pairs ON link_targets.text_id = pairs.text_id AND pairs.foreign_id IS NOT NULL
),

shared_links AS (
    SELECT
        pairs.text_id,
        pairs.foreign_id,
        count(DISTINCT their_links.title) FILTER (WHERE our_links.title IS NOT NULL) AS shared
    FROM pairs
    INNER JOIN their_links
        ON
            pairs.foreign_id = their_links.foreign_id
            AND wiki_language(pairs.language) = their_links.language
    LEFT JOIN our_links
        ON pairs.text_id = our_links.text_id AND their_links.title = our_links.title
    GROUP BY pairs.text_id, pairs.foreign_id
)

SELECT
    pairs.* EXCLUDE (foreign_id),
    concat_ws(
        ' ',
        if(pairs.words = pairs.own_words, 'same words', 'other words'),
        CASE
            WHEN shared_links.shared IS NULL THEN 'links unknown'
            WHEN shared_links.shared > 2 THEN '3 links'
            ELSE shared_links.shared || ' links'
        END
    ) AS evidence
FROM pairs
LEFT JOIN shared_links
    ON pairs.text_id = shared_links.text_id AND pairs.foreign_id = shared_links.foreign_id
ORDER BY pairs.text_id, pairs.other, pairs.title, pairs.heading
