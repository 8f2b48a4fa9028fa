-- BM25 reads captions of images, not pixels: reference, alt-text, attribution, in one language or
-- all.
WITH entries AS (
    SELECT
        image_id,
        split,
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
    split,
    list_filter(
        list_concat(
            list_transform(places, LAMBDA i: reference[i]),
            list_transform(places, LAMBDA i: alt_text[i]),
            list_transform(places, LAMBDA i: attribution[i])
        ),
        LAMBDA v: v <> ''
    ) AS parts,
    array_to_string(parts, ' ') AS contents
FROM entries
ORDER BY image_id
