SELECT DISTINCT
    text_id,
    image_url,
    split
FROM projected
WHERE text_id IS NOT NULL
ORDER BY text_id, image_url, split
