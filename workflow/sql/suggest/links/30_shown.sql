-- What a page shows, each picture with its share of the page: one of the lead, or of an infobox,
-- weighs as much as two others.
WITH weighed AS (
    SELECT
        placed.language,
        placed.page_id,
        placed.image_id,
        max(if(placed.origin = 'infobox' OR outlines.place = 0, 2, 1)) AS weight
    FROM placed
    LEFT JOIN outlines ON placed.text_id = outlines.text_id
    GROUP BY placed.language, placed.page_id, placed.image_id
)

SELECT
    language,
    page_id,
    image_id,
    weight / sum(weight) OVER (PARTITION BY language, page_id) AS share
FROM weighed
ORDER BY language, page_id, image_id
