-- Each row with the picture and the text that it is about. An id of a picture stands for the
-- picture that a row names with it; without any it is the picture's name itself. A text without
-- an id has that of its place.
-- A file of Wikimedia's is named by its canonical address, whatever the rows call it.
WITH uses AS (
    SELECT * REPLACE (file_url(image) AS image) FROM rows
),

images AS (
    SELECT image_id, arg_min(image, (file, row)) AS image
    FROM uses
    WHERE image IS NOT NULL AND image_id IS NOT NULL
    GROUP BY image_id
),

places AS (
    SELECT
        *,
        regexp_replace(file, '[.][A-Za-z]+([.](gz|bz2|zst|zip))?$', '') || '-' || row AS place,
        CASE WHEN several THEN '-' || (nth + 1) ELSE '' END AS suffix
    FROM uses
)

SELECT
    places.* EXCLUDE (image, text_id, place, suffix),
    places.image AS own_image,
    places.text_id AS source_text_id,
    images.image AS first_image,
    coalesce(places.image, images.image, places.image_id) AS image,
    regexp_replace(
        CASE
            WHEN places.text_id IS NOT NULL THEN places.text_id || suffix
            WHEN places.text IS NOT NULL THEN replace(place, '/', '-') || suffix
        END,
        '\s', '%20', 'g'
    ) AS text_id
FROM places
LEFT JOIN images ON places.image_id = images.image_id
ORDER BY places.file, places.row, places.nth
