SELECT
    qrels.*,
    texts.text_id IS NOT NULL AS knows_text,
    images.image_id IS NOT NULL AS knows_image
FROM qrels
LEFT JOIN texts ON qrels.text_id = texts.text_id
LEFT JOIN images ON qrels.image_id = images.image_id
WHERE texts.text_id IS NULL OR images.image_id IS NULL
ORDER BY ALL
