SELECT text_id, image_id, relevance, split
FROM usable
WHERE NOT represents
ORDER BY text_id, image_id, split
