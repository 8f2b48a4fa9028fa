-- The other captions are the reference captions of a picture.
SELECT
    image_id,
    image_url,
    list_transform(captions, LAMBDA c: $language) AS language,
    captions AS caption_reference_description,
    list_transform(captions, LAMBDA _: '') AS caption_alt_text_description,
    list_transform(captions, LAMBDA _: '') AS caption_attribution_description,
    'image/jpeg' AS mime_type,
    width,
    height,
    sha256,
    split,
    name AS source_image_id
FROM usable
ORDER BY image_id
