-- A published picture is WebP (AToMiC, section 4.3).
WITH splits AS (
    SELECT DISTINCT
        image_id,
        split
    FROM qrels
)

SELECT
    known.image_id,
    known.image_url,
    known.language,
    known.caption_reference_description,
    known.caption_alt_text_description,
    known.caption_attribution_description,
    if(alive.sha256 IS NULL, NULL, 'image/webp') AS mime_type,
    alive.width,
    alive.height,
    alive.sha256,
    coalesce(splits.split, 'other') AS split
FROM known_images AS known
INNER JOIN alive ON known.image_id = alive.image_id
LEFT JOIN splits ON known.image_id = splits.image_id
ORDER BY known.image_id
