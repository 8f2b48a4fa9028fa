-- The words of a release's images: their captions in one language, or all.
WITH entries AS (
    SELECT
        image_id,
        image_url,
        list_filter(
            range(1, len(language) + 1), LAMBDA i: $language IN (language[i], 'mul')
        ) AS places,
        caption_reference_description AS reference,
        caption_alt_text_description AS alt_text,
        caption_attribution_description AS attribution
    FROM images
)

SELECT
    image_id AS id,
    '' AS title,
    array_to_string(
        list_filter(
            list_concat(
                list_transform(places, LAMBDA i: reference[i]),
                list_transform(places, LAMBDA i: alt_text[i]),
                list_transform(places, LAMBDA i: attribution[i])
            ),
            LAMBDA v: v <> ''
        ),
        ' '
    ) AS text,
    coalesce(image_url, '') AS url
FROM entries
ORDER BY image_id
