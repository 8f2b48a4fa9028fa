-- Filter (c) once more: a picture that editions have in different splits loses all its pairs.
SELECT
    text_id,
    image_id,
    relevance,
    split
FROM member_qrels
QUALIFY
    min(split) OVER (PARTITION BY text_id) = max(split) OVER (PARTITION BY text_id)
    AND min(split) OVER (PARTITION BY image_id) = max(split) OVER (PARTITION BY image_id)
ORDER BY text_id, image_id
