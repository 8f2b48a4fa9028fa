SELECT
    image_id,
    image_url,
    []::VARCHAR[] AS language,
    []::VARCHAR[] AS caption_reference_description,
    []::VARCHAR[] AS caption_alt_text_description,
    []::VARCHAR[] AS caption_attribution_description,
    'image/webp' AS mime_type,
    width,
    height,
    sha256,
    split,
    data_id AS source_image_id,
    picture_id,
    question,
    subset,
    seen
FROM paired
ORDER BY image_id
