-- The first documents of some queries, and whether each is relevant.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id FROM qrels WHERE relevance > 0
    UNION
    SELECT image_id AS query_id, text_id AS doc_id FROM qrels WHERE relevance > 0
)

SELECT run.query_id, run.doc_id, run.rank, pairs.doc_id IS NOT NULL AS relevant
FROM run LEFT JOIN pairs ON run.query_id = pairs.query_id AND run.doc_id = pairs.doc_id
WHERE list_contains($queries, run.query_id) AND run.rank <= $depth
ORDER BY run.query_id ASC, run.rank ASC
