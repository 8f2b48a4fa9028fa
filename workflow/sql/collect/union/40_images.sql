-- The row of an image of several members comes from the first one, its captions from all.
WITH judged AS (
    SELECT DISTINCT
        image_id,
        split
    FROM qrels
),

described AS (
    SELECT
        image_id,
        list(language ORDER BY seen) AS languages,
        list(reference ORDER BY seen) AS reference,
        list(alt_text ORDER BY seen) AS alt_text,
        list(attribution ORDER BY seen) AS attribution
    FROM captions
    GROUP BY image_id
)

SELECT
    i.image_id,
    i.image_url,
    coalesce(described.languages, []) AS language,
    coalesce(described.reference, []) AS caption_reference_description,
    coalesce(described.alt_text, []) AS caption_alt_text_description,
    coalesce(described.attribution, []) AS caption_attribution_description,
    i.mime_type,
    i.width,
    i.height,
    i.sha256,
    coalesce(judged.split, 'other') AS split
FROM member_images AS i
LEFT JOIN described ON i.image_id = described.image_id
LEFT JOIN judged ON i.image_id = judged.image_id
QUALIFY row_number() OVER (PARTITION BY i.image_id ORDER BY i.member) = 1
ORDER BY i.image_id
