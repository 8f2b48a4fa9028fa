SELECT queries.text_id, queries.image_id, 1 AS relevance, queries.split
FROM queries
ANTI JOIN rejected ON queries.file = rejected.file AND queries.row = rejected.row
ORDER BY queries.text_id ASC, queries.image_id ASC
