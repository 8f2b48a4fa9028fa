-- The captions of some images in each of two snapshots.
SELECT
    image_id, side,
    regexp_extract(image_url, '[^/]+$') AS title,
    list_sort(list_distinct(list_concat(
        caption_reference_description, caption_alt_text_description
    ))) AS captions
FROM (
    SELECT *, 'before' AS side FROM before_images
    UNION ALL BY NAME
    SELECT *, 'after' AS side FROM after_images
) AS both_sides
WHERE list_contains($ids, image_id)
ORDER BY image_id ASC, side DESC
