SELECT
    queries.image_id,
    queries.image_url,
    []::VARCHAR[] AS language,
    []::VARCHAR[] AS caption_reference_description,
    []::VARCHAR[] AS caption_alt_text_description,
    []::VARCHAR[] AS caption_attribution_description,
    'image/webp' AS mime_type,
    queries.width,
    queries.height,
    queries.sha256,
    queries.split,
    queries.picture AS source_image_id,
    queries.image_id AS picture_id,
    queries.question,
    'entity' AS subset,
    queries.seen
FROM queries
ANTI JOIN rejected ON queries.file = rejected.file AND queries.row = rejected.row
ORDER BY queries.image_id
