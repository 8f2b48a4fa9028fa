-- What is shown of each image: its captions, and the one that a reader of $language is shown.
WITH captioned AS (
    SELECT
        image_id,
        image_url,
        width,
        height,
        list_filter(
            captions_in(
                $language,
                language,
                caption_reference_description,
                caption_alt_text_description,
                caption_attribution_description
            ),
            LAMBDA v: trim(v) <> ''
        ) AS own,
        list_filter(
            list_concat(
                caption_reference_description,
                caption_alt_text_description,
                caption_attribution_description
            ),
            LAMBDA v: trim(v) <> ''
        ) AS captions
    FROM images
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
