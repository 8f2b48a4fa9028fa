-- What sections of these pages in other languages show: by WIT, and by the other members of a
-- union, whose sections have an id.
WITH associated AS (
    SELECT
        wiki_language(a.language) AS language,
        replace(a.page_title, '_', ' ') AS title,
        trim(coalesce(a.section_title, '')) AS heading,
        images.image_id,
        NULL::VARCHAR AS foreign_id
    FROM associations AS a
    INNER JOIN images ON a.image_url = images.image_url
),

shown AS (
    SELECT
        wiki_language(placed.language) AS language,
        pages.title,
        if(outlines.place = 0, '', trim(coalesce(outlines.heading, ''))) AS heading,
        placed.image_id,
        placed.text_id AS foreign_id
    FROM placed
    INNER JOIN outlines ON placed.text_id = outlines.text_id
    INNER JOIN pages ON placed.language = pages.language AND placed.page_id = pages.page_id
),

everywhere AS (
    SELECT * FROM associated
    UNION ALL
    SELECT * FROM shown
)

SELECT
    e.language,
    e.title,
    e.heading,
    lower(e.heading) AS words,
    e.image_id,
    min(e.foreign_id) AS foreign_id
FROM everywhere AS e
SEMI JOIN counterparts ON e.language = counterparts.other AND e.title = counterparts.title
GROUP BY e.language, e.title, e.heading, e.image_id
ORDER BY e.language, e.title, e.heading, e.image_id
