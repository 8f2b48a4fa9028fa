-- An answer is rejected if its picture or its caption is.
SELECT file, row, reason, detail, raw FROM flawed
UNION ALL
SELECT
    answers.split || '/' || answers.folder || 'expected.tsv' AS file,
    answers.row,
    CASE WHEN images.image_id IS NULL THEN 'unusable_picture' ELSE 'unusable_caption' END AS reason,
    coalesce(inputs.picture, '') AS detail,
    answers.line AS raw
FROM answers
LEFT JOIN inputs
    ON
        answers.split = inputs.split
        AND answers.folder = inputs.folder
        AND answers.row = inputs.row
LEFT JOIN images ON inputs.image_id = images.image_id AND inputs.split = images.split
LEFT JOIN texts ON answers.text_id = texts.text_id
WHERE images.image_id IS NULL OR texts.text_id IS NULL
ORDER BY file ASC, row ASC
