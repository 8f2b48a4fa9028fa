-- How many pairs have each grade, and how many texts and images are judged.
SELECT
    rel AS grade,
    count(*) AS pairs,
    (SELECT count(DISTINCT text_id) FROM qrels) AS texts,
    (SELECT count(DISTINCT image_id) FROM qrels) AS images
FROM qrels
GROUP BY rel
ORDER BY rel
