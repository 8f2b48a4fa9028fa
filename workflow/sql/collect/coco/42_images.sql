-- Captions are the reference captions of a picture, one entry for each wording.
SELECT
    usable.image_id,
    usable.image_url,
    list_transform(usable.captions, LAMBDA c: $language) AS language,
    usable.captions AS caption_reference_description,
    list_transform(usable.captions, LAMBDA _: '') AS caption_alt_text_description,
    list_transform(usable.captions, LAMBDA _: '') AS caption_attribution_description,
    'image/jpeg' AS mime_type,
    usable.width,
    usable.height,
    usable.sha256,
    usable.split,
    objects.objects
FROM usable
LEFT JOIN objects ON usable.id = objects.picture
ORDER BY usable.image_id
