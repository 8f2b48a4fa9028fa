-- Images, and the names of their pictures: an address, or else the id itself.
SELECT image_id, coalesce(image_url, image_id) AS name FROM published_images
UNION ALL
SELECT image_id, coalesce(image_url, image_id) AS name FROM further_images
