-- An image that is a query: every caption, in all languages.
SELECT
    image_id AS id, image_url, caption_reference_description, caption_alt_text_description,
    caption_attribution_description
FROM images
WHERE list_contains($ids, image_id)
ORDER BY image_id
