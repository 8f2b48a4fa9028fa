SELECT
    qrels.*,
    images.split AS image_split
FROM qrels
INNER JOIN images ON qrels.image_id = images.image_id
WHERE qrels.split <> images.split
ORDER BY ALL
