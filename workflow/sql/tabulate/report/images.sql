-- What the report shows of some images, apart from their pixels.
SELECT
    image_id AS id,
    regexp_extract(coalesce(image_url, image_id), '[^/]+$') AS title,
    coalesce(
        caption_reference_description[1],
        caption_alt_text_description[1],
        caption_attribution_description[1],
        ''
    ) AS words,
    coalesce(image_url, '') AS url
FROM images
WHERE list_contains($ids, image_id)
ORDER BY image_id
