SELECT
    'vg-coco-' || coco_id AS text_id,
    image_id,
    1::INTEGER AS relevance,
    split
FROM usable
ORDER BY text_id, image_id
