-- One entry per language and wording, in the order of WIT.
SELECT
    image_url,
    language,
    coalesce(caption_reference_description, '') AS reference,
    coalesce(caption_alt_text_description, '') AS alt_text,
    coalesce(caption_attribution_description, '') AS attribution,
    min(mime_type) AS mime_type,
    min((file, row)) AS seen
FROM associations
GROUP BY ALL
ORDER BY ALL
