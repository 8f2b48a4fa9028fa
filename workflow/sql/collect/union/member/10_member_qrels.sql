SELECT
    texts.language || '-' || qrels.text_id AS text_id,
    qrels.image_id,
    qrels.relevance,
    qrels.split
FROM qrels
INNER JOIN texts ON qrels.text_id = texts.text_id
ORDER BY text_id, image_id
