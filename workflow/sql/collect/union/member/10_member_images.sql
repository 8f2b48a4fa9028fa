SELECT
    *,
    $nth AS member
FROM images
ORDER BY image_id
