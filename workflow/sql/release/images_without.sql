-- The published columns of the images that no shard has a picture of.
SELECT
    images.image_url,
    images.image_id,
    images.language,
    images.caption_reference_description,
    images.caption_alt_text_description,
    images.caption_attribution_description,
    NULL::BLOB AS image
FROM images
ANTI JOIN pixels ON images.image_id = pixels.image_id
WHERE if(contains(images.split, '+'), 'other', images.split) = $split
ORDER BY images.image_id
