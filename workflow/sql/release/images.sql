-- The published columns of AToMiC's images, for one shard of pixels, and the split to write to.
SELECT
    images.image_url,
    images.image_id,
    images.language,
    images.caption_reference_description,
    images.caption_alt_text_description,
    images.caption_attribution_description,
    pixels.webp AS image,
    if(contains(images.split, '+'), 'other', images.split) AS split
FROM images
INNER JOIN pixels ON images.image_id = pixels.image_id
ORDER BY images.image_id
