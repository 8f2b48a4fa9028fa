SELECT
    texts.text_id,
    images.image_id,
    1 AS relevance,
    answers.split
FROM answers
INNER JOIN asked
    ON
        answers.split = asked.split
        AND answers.folder = asked.folder
        AND answers.row = asked.row
INNER JOIN images ON asked.image_id = images.image_id AND asked.split = images.split
INNER JOIN texts ON answers.text_id = texts.text_id
ORDER BY texts.text_id ASC, images.image_id ASC
