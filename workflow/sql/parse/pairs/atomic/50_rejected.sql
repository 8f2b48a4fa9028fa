-- Judgements without their text or picture, those of a pair that another list judges, published
-- texts that are none, lines of topics that can't be read, and topics of a track that nobody
-- judged.
SELECT file, row, reason, text_id AS detail, image_id AS raw, split
FROM judged
WHERE reason IS NOT NULL
UNION ALL
SELECT
    'texts' AS file,
    NULL AS row,
    'no_words' AS reason,
    text_id AS detail,
    concat_ws(' / ', page_title, section_title) AS raw,
    NULL AS split
FROM published_texts
WHERE text_id NOT IN (SELECT t.text_id FROM text_ids AS t)
UNION ALL
SELECT
    file,
    row,
    if(id IS NULL OR words IS NULL, 'bad_record', 'no_words') AS reason,
    coalesce(id, '') AS detail,
    line AS raw,
    NULL AS split
FROM topics
WHERE id IS NULL OR words IS NULL OR (side = 'text' AND trim(words) = '')
UNION ALL
SELECT
    file,
    row,
    'unjudged' AS reason,
    text_id AS detail,
    concat_ws(' / ', page_title, section_title) AS raw,
    NULL AS split
FROM asked_texts
WHERE text_id NOT IN (SELECT j.text_id FROM judged AS j)
UNION ALL
SELECT
    file, row, 'unjudged' AS reason, image_id AS detail, image_url AS raw, NULL AS split
FROM asked_images
WHERE image_id NOT IN (SELECT j.image_id FROM judged AS j)
ORDER BY file, row, reason
