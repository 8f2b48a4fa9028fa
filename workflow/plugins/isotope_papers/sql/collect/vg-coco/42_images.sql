-- Region descriptions are the reference captions of a picture, repeated ones too: c_i of section 3
-- has all of its sentences.
SELECT
    usable.image_id,
    usable.image_url,
    list_transform(usable.regions, LAMBDA c: $language) AS language,
    usable.regions AS caption_reference_description,
    list_transform(usable.regions, LAMBDA _: '') AS caption_alt_text_description,
    list_transform(usable.regions, LAMBDA _: '') AS caption_attribution_description,
    'image/jpeg' AS mime_type,
    usable.width,
    usable.height,
    usable.sha256,
    usable.split,
    concepts.objects,
    usable.picture::VARCHAR AS source_image_id
FROM usable
LEFT JOIN concepts USING (picture)
ORDER BY usable.image_id
