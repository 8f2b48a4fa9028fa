-- A section of ours beside one with pictures on the same page of another language. A pair teaches
-- if our page shows a picture of the other section at all; `is_same` says that this section does.
WITH ours AS (
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
)

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
ORDER BY ours.text_id, theirs.other, theirs.title, theirs.heading
