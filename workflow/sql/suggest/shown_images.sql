-- What is shown of each image: its captions, and the one that a reader of $language is shown.
WITH entries AS (
    SELECT
        image_id,
        image_url,
        width,
        height,
        list_filter(
            range(1, len(language) + 1), LAMBDA i: $language IN (language[i], 'mul')
        ) AS places,
        caption_reference_description AS reference,
        caption_alt_text_description AS alt_text,
        caption_attribution_description AS attribution
    FROM images
),

captioned AS (
    SELECT
        image_id,
        image_url,
        width,
        height,
        list_filter(
            list_concat(
                list_transform(places, LAMBDA i: reference[i]),
                list_transform(places, LAMBDA i: alt_text[i]),
                list_transform(places, LAMBDA i: attribution[i])
            ),
            LAMBDA v: trim(v) <> ''
        ) AS own,
        list_filter(
            list_concat(reference, alt_text, attribution), LAMBDA v: trim(v) <> ''
        ) AS captions
    FROM entries
)

SELECT
    image_id,
    image_url,
    coalesce(captions, []) AS captions,
    coalesce(own[1], captions[1], '') AS caption,
    width AS image_width,
    height AS image_height
FROM captioned
ORDER BY image_id
