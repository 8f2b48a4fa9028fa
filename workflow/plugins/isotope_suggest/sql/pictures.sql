-- All that is known of a picture before its kind is told; `is_chosen` is that of the train split,
-- and `pages` is how many pages show its file, infoboxes and galleries included.
WITH shown AS (
    SELECT DISTINCT
        file,
        wiki,
        page_id
    FROM placed
),

pages AS (
    SELECT
        file,
        count(*)::INTEGER AS pages
    FROM shown
    GROUP BY file
)

SELECT
    images.image_id,
    names.file,
    images.mime_type,
    coalesce(images.width, looks.width) AS width,
    coalesce(images.height, looks.height) AS height,
    coalesce(pages.pages, 0) AS pages,
    looks.* EXCLUDE (image_id, width, height),
    credits.attribution,
    credits.licence,
    nullif(credits.file_page, '') AS file_page,
    images.image_id IN (
        SELECT qrels.image_id FROM qrels WHERE qrels.split = 'train'
    ) AS is_chosen
FROM images
INNER JOIN names ON images.image_id = names.image_id
INNER JOIN credits ON images.image_id = credits.image_id
LEFT JOIN looks ON names.picture_id = looks.image_id
LEFT JOIN pages ON names.file = pages.file
ORDER BY images.image_id
