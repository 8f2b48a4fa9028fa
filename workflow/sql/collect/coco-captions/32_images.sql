-- All captions are texts, so no word stands for a picture: there is no caption oracle here.
SELECT
    image_id,
    image_url,
    []::VARCHAR[] AS language,
    []::VARCHAR[] AS caption_reference_description,
    []::VARCHAR[] AS caption_alt_text_description,
    []::VARCHAR[] AS caption_attribution_description,
    'image/jpeg' AS mime_type,
    width,
    height,
    sha256,
    split
FROM usable
ORDER BY image_id
