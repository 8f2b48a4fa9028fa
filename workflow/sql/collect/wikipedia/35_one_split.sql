-- Filter (c): a pair is dropped if its text or its image occurs in more than one split.
SELECT
    canonical.text_id,
    canonical.image_url,
    canonical.split
FROM canonical
ANTI JOIN split_texts ON canonical.text_id = split_texts.text_id
ANTI JOIN split_images ON canonical.image_url = split_images.image_url
ORDER BY canonical.text_id, canonical.image_url
