-- Judgements without their text or picture, those of a pair that another list judges, and
-- lines of topics that can't be read.
SELECT
    file,
    row,
    CASE
        WHEN text_id NOT IN (SELECT known_texts.text_id FROM known_texts) THEN 'unknown_text'
        WHEN image_id NOT IN (SELECT known_images.image_id FROM known_images) THEN 'unknown_image'
        WHEN image_id NOT IN (SELECT alive.image_id FROM alive) THEN 'broken_picture'
        ELSE 'judged_again'
    END AS reason,
    text_id AS detail,
    image_id AS raw
FROM graded
WHERE
    place > 1
    OR image_id NOT IN (SELECT alive.image_id FROM alive)
    OR text_id NOT IN (SELECT known_texts.text_id FROM known_texts)
UNION ALL
SELECT
    file,
    row,
    'bad_record' AS reason,
    coalesce(id, '') AS detail,
    line AS raw
FROM topics
WHERE id IS NULL OR words IS NULL
ORDER BY file, row, reason
