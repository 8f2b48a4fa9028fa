-- Shared pictures with pixels, captions that are the query and regions that describe them. The
-- paper (section 3.2) averages a query of more than one sentence; its shares of queries that name a
-- colour or a size (section 6.4) are those of all captions of a picture, and not of one.
WITH caption_queries AS (
    SELECT picture, string_agg(sentence, chr(10) ORDER BY id) AS query
    FROM sentences
    WHERE sentence <> ''
    GROUP BY picture
),

picture_regions AS (
    SELECT picture, list(sentence ORDER BY region_id) AS regions
    FROM regions
    WHERE sentence <> ''
    GROUP BY picture
)

SELECT pictures.*, caption_queries.query, picture_regions.regions
FROM pictures
INNER JOIN caption_queries ON pictures.coco_id = caption_queries.picture
INNER JOIN picture_regions ON pictures.picture = picture_regions.picture
WHERE pictures.has_pixels
ORDER BY pictures.image_id
