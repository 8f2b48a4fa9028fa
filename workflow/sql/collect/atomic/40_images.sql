-- A published picture is WebP (AToMiC, section 4.3).
WITH splits AS (
    SELECT
        image_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS split
    FROM qrels
    GROUP BY image_id
)

SELECT
    i.image_id,
    i.image_url,
    i.language,
    i.caption_reference_description,
    i.caption_alt_text_description,
    i.caption_attribution_description,
    if(alive.sha256 IS NULL, NULL, 'image/webp') AS mime_type,
    alive.width,
    alive.height,
    alive.sha256,
    coalesce(splits.split, 'other') AS split
FROM known_images AS i
INNER JOIN alive ON i.image_id = alive.image_id
LEFT JOIN splits ON i.image_id = splits.image_id
ORDER BY i.image_id
