-- How many images there are, with pictures and with captions.
SELECT
    count(*) AS images,
    count(image) AS pictures,
    coalesce(count(*) FILTER (
        WHERE list_bool_or(list_transform(
            list_concat(
                caption_reference_description, caption_alt_text_description,
                caption_attribution_description
            ),
            LAMBDA c: c <> ''
        ))
    ), 0) AS captioned
FROM images
