SELECT DISTINCT
    text_id,
    image_url,
    split,
    picture
FROM projected
WHERE text_id IS NOT NULL
ORDER BY text_id, image_url, split
