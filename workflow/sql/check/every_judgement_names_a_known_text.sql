SELECT qrels.*
FROM qrels
ANTI JOIN texts ON qrels.text_id = texts.text_id
ORDER BY ALL
