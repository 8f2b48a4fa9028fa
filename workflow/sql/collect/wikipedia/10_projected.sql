-- A picture may have an address on Commons and one in the wiki; `picture` is the same for both.
SELECT
    a.split,
    a.image_url,
    projection.text_id,
    projection.source_text_id,
    in_any_repository(a.image_url) AS picture
FROM associations AS a
INNER JOIN members ON a.file = members.file AND a.row = members.row
INNER JOIN projection ON members.source_text_id = projection.source_text_id
WHERE is_spoken(a.language, $language)
ORDER BY a.file, a.row
