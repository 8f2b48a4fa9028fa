SELECT
    texts.text_id,
    images.image_id,
    1 AS relevance,
    answers.split
FROM answers
INNER JOIN inputs
    ON
        answers.split = inputs.split
        AND answers.folder = inputs.folder
        AND answers.row = inputs.row
INNER JOIN images ON inputs.image_id = images.image_id AND inputs.split = images.split
INNER JOIN texts ON answers.text_id = texts.text_id
ORDER BY texts.text_id ASC, images.image_id ASC
