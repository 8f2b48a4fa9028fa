SELECT m.*
FROM all_members AS m
SEMI JOIN projection ON m.source_text_id = projection.source_text_id
ORDER BY m.file, m.row
