-- ASSUME a published picture is WebP, as the collection's card says.
WITH splits AS (
    SELECT DISTINCT
        image_id,
        split
    FROM qrels
)

SELECT
    published.image_id,
    published.image_url,
    published.language,
    published.caption_reference_description,
    published.caption_alt_text_description,
    published.caption_attribution_description,
    'image/webp' AS mime_type,
    alive.width,
    alive.height,
    alive.sha256,
    coalesce(splits.split, 'other') AS split
FROM published_images AS published
INNER JOIN alive ON published.image_id = alive.image_id
LEFT JOIN splits ON published.image_id = splits.image_id
ORDER BY published.image_id
