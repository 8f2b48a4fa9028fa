-- The credit is in no language (und), so no system that reads captions sees it.
WITH captioned AS (
    SELECT DISTINCT source_text_id AS image_key FROM texts
)

SELECT
    pictures.image_id,
    pictures.image_url,
    list_concat(
        coalesce(foreign_captions.languages, []), CASE WHEN credits.credit <> '' THEN ['und'] END
    ) AS language,
    list_concat(
        coalesce(foreign_captions.captions, []), CASE WHEN credits.credit <> '' THEN [''] END
    ) AS caption_reference_description,
    list_transform(language, LAMBDA _: '') AS caption_alt_text_description,
    list_transform(language, LAMBDA l: CASE WHEN l = 'und' THEN credits.credit ELSE '' END)
        AS caption_attribution_description,
    'image/jpeg' AS mime_type,
    pictures.width,
    pictures.height,
    pictures.sha256,
    CASE WHEN captioned.image_key IS NULL THEN 'other' ELSE 'test' END AS split,
    pictures.locale
FROM pictures
LEFT JOIN foreign_captions ON pictures.image_key = foreign_captions.image_key
LEFT JOIN credits ON pictures.image_key = credits.image_key
LEFT JOIN captioned ON pictures.image_key = captioned.image_key
WHERE pictures.reason IS NULL
ORDER BY pictures.image_id
