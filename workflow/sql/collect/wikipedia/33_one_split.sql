-- Filter (c): a pair goes when its text or its image occurs in more than one split.
SELECT
    text_id,
    image_url,
    split
FROM canonical
QUALIFY
    min(split) OVER (PARTITION BY text_id) = max(split) OVER (PARTITION BY text_id)
    AND min(split) OVER (PARTITION BY image_url) = max(split) OVER (PARTITION BY image_url)
ORDER BY text_id, image_url
