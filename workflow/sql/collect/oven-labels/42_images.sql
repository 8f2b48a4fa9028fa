SELECT
    asked.image_id,
    asked.image_url,
    []::VARCHAR[] AS language,
    []::VARCHAR[] AS caption_reference_description,
    []::VARCHAR[] AS caption_alt_text_description,
    []::VARCHAR[] AS caption_attribution_description,
    'image/webp' AS mime_type,
    asked.width,
    asked.height,
    asked.sha256,
    asked.split,
    asked.picture AS source_image_id,
    asked.image_id AS picture_id,
    asked.question,
    'entity' AS subset,
    asked.seen
FROM asked
ANTI JOIN rejected ON asked.file = rejected.file AND asked.row = rejected.row
ORDER BY asked.image_id
