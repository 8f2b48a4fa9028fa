-- The words of a release's images: their captions in one language, or all.
SELECT
    image_id AS id,
    '' AS title,
    array_to_string(
        list_filter(
            captions_in(
                $language,
                language,
                caption_reference_description,
                caption_alt_text_description,
                caption_attribution_description
            ),
            LAMBDA v: v <> ''
        ),
        ' '
    ) AS text,
    coalesce(image_url, '') AS url
FROM images
ORDER BY image_id
