-- Attributions, with the licence that the collection itself states of an image before any other.
SELECT
    attributions.image_id,
    attributions.image_url,
    attributions.attribution,
    coalesce(nullif(trim(images.licence), ''), attributions.licence) AS licence,
    attributions.file_page
FROM attributions
INNER JOIN images ON attributions.image_id = images.image_id
ORDER BY attributions.image_id
