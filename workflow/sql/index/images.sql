-- BM25 reads captions of images, not pixels: reference, alt-text, attribution, in one language or
-- all.
SELECT
    image_id AS id,
    split,
    list_filter(
        captions_in(
            $language,
            language,
            caption_reference_description,
            caption_alt_text_description,
            caption_attribution_description
        ),
        LAMBDA v: v <> ''
    ) AS parts,
    array_to_string(parts, ' ') AS contents
FROM images
ORDER BY image_id
