-- Pictures of linked pages, the $depth likeliest. What a page shows divides it by weight: one of
-- the lead, or of an infobox, weighs as much as two others. Every linked page with pictures is as
-- likely to be the one that the section is about; where several show a picture they agree on it.
WITH weighed AS (
    SELECT
        placed.language,
        placed.page_id,
        placed.image_id,
        max(if(placed.origin = 'infobox' OR outlines.place = 0, 2, 1)) AS weight
    FROM placed
    LEFT JOIN outlines ON placed.text_id = outlines.text_id
    GROUP BY placed.language, placed.page_id, placed.image_id
),

shown AS (
    SELECT
        language,
        page_id,
        image_id,
        weight / sum(weight) OVER (PARTITION BY language, page_id) AS share
    FROM weighed
),

pages AS (
    SELECT
        linked.text_id,
        linked.language,
        linked.page_id,
        linked.title,
        count(*) OVER (PARTITION BY linked.text_id) AS pages
    FROM linked
    SEMI JOIN placed ON linked.language = placed.language AND linked.page_id = placed.page_id
),

pictures AS (
    SELECT
        pages.text_id,
        pages.title,
        shown.image_id,
        shown.share / pages.pages AS share
    FROM pages
    INNER JOIN shown ON pages.language = shown.language AND pages.page_id = shown.page_id
),

combined AS (
    SELECT
        text_id,
        image_id,
        list(share ORDER BY share DESC, title ASC) AS shares,
        list(title ORDER BY share DESC, title ASC) AS links_on
    FROM pictures
    GROUP BY text_id, image_id
),

scored AS (
    SELECT
        text_id,
        image_id,
        links_on,
        any_of(shares) AS links
    FROM combined
)

SELECT
    text_id,
    image_id,
    links::FLOAT AS links,
    links_on
FROM scored
QUALIFY row_number() OVER (PARTITION BY text_id ORDER BY links DESC, image_id ASC) <= $depth
ORDER BY text_id, image_id
