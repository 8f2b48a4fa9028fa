-- Shared pictures with pixels, captions that ask for them and regions that describe them. The
-- paper (section 3.2) averages a query of more than one sentence; its shares of queries that name a
-- colour or a size (section 6.4) are those of all captions of a picture, and not of one.
WITH asking AS (
    SELECT picture, string_agg(sentence, chr(10) ORDER BY id) AS query
    FROM sentences
    WHERE sentence <> ''
    GROUP BY picture
),

described AS (
    SELECT picture, list(sentence ORDER BY region_id) AS regions
    FROM regions
    WHERE sentence <> ''
    GROUP BY picture
)

SELECT pictures.*, asking.query, described.regions
FROM pictures
INNER JOIN asking ON pictures.coco_id = asking.picture
INNER JOIN described ON pictures.picture = described.picture
WHERE pictures.has_pixels
ORDER BY pictures.image_id
