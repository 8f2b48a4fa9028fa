-- Filter (c) across editions: an image that is in different splits of two editions loses all its
-- pairs.
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
