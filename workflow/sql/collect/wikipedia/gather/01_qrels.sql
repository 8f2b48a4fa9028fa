SELECT *
FROM all_qrels
ORDER BY text_id, image_id
