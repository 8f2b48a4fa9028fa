SELECT
    a.language,
    a.split,
    a.image_url,
    a.file,
    a.row
FROM all_associations AS a
SEMI JOIN members ON a.file = members.file AND a.row = members.row
ORDER BY a.file, a.row
