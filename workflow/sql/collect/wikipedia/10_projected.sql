SELECT
    a.split,
    a.image_url,
    projection.text_id,
    projection.source_text_id
FROM associations AS a
INNER JOIN members ON a.file = members.file AND a.row = members.row
INNER JOIN projection ON members.source_text_id = projection.source_text_id
WHERE a.language = $language
ORDER BY a.file, a.row
