-- Judgements without their text or picture, those of a pair that another list judges, published
-- texts that are none, lines of topics that can't be read, and topics of a track that nobody
-- judged.
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
    'texts' AS file,
    NULL AS row,
    if(coalesce(page_title, '') = '', 'no_words', 'no_text') AS reason,
    text_id AS detail,
    concat_ws(' / ', page_title, section_title) AS raw
FROM published_texts
WHERE text_id NOT IN (SELECT known_texts.text_id FROM known_texts)
UNION ALL
SELECT
    file,
    row,
    if(id IS NULL OR words IS NULL, 'bad_record', 'no_words') AS reason,
    coalesce(id, '') AS detail,
    line AS raw
FROM topics
WHERE id IS NULL OR words IS NULL OR (side = 'text' AND trim(words) = '')
UNION ALL
SELECT
    file,
    row,
    'unjudged' AS reason,
    text_id AS detail,
    concat_ws(' / ', page_title, section_title) AS raw
FROM asked_texts
WHERE text_id NOT IN (SELECT judged.text_id FROM judged)
UNION ALL
SELECT
    file,
    row,
    'unjudged' AS reason,
    image_id AS detail,
    image_url AS raw
FROM asked_images
WHERE image_id NOT IN (SELECT judged.image_id FROM judged)
ORDER BY file, row, reason
