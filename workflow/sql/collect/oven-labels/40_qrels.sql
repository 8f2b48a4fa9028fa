SELECT asked.text_id, asked.image_id, 1 AS relevance, asked.split
FROM asked
ANTI JOIN rejected ON asked.file = rejected.file AND asked.row = rejected.row
ORDER BY asked.text_id ASC, asked.image_id ASC
