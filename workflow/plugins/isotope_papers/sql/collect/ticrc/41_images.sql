SELECT
    image_id,
    image_url,
    []::VARCHAR[] AS language,
    []::VARCHAR[] AS caption_reference_description,
    []::VARCHAR[] AS caption_alt_text_description,
    []::VARCHAR[] AS caption_attribution_description,
    'image/' || string_split(lower(picture), '.')[-1] AS mime_type,
    width,
    height,
    sha256,
    split,
    date,
    source_split
FROM inputs
ANTI JOIN flawed
    ON
        flawed.file = inputs.split || '/' || inputs.folder || 'in.tsv'
        AND inputs.row = flawed.row
ORDER BY image_id
