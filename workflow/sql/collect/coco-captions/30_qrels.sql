-- Each of a picture's five captions is a text, relevant to this picture alone.
SELECT
    'coco-' || sentences.id AS text_id,
    usable.image_id,
    1::INTEGER AS relevance,
    usable.split
FROM usable INNER JOIN sentences ON usable.id = sentences.picture
WHERE sentences.sentence <> '' AND sentences.place <= 5
ORDER BY text_id, image_id
