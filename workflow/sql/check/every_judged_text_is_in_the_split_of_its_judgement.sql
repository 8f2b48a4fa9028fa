SELECT
    qrels.*,
    texts.split AS text_split
FROM qrels
INNER JOIN texts ON qrels.text_id = texts.text_id
WHERE qrels.split <> texts.split
ORDER BY ALL
