-- AToMiC (SIGIR 2023), Fig. 6: both ends of a run for some queries, and where another run has
-- the same documents.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id FROM qrels WHERE relevance > 0
    UNION
    SELECT image_id AS query_id, text_id AS doc_id FROM qrels WHERE relevance > 0
),

asked AS (
    SELECT query_id, doc_id, rank, score, max(rank) OVER (PARTITION BY query_id) AS hits
    FROM run WHERE list_contains($queries, query_id)
)

SELECT
    asked.query_id, asked.doc_id, asked.rank, asked.score, asked.hits,
    other.rank AS other_rank, pairs.doc_id IS NOT NULL AS relevant
FROM asked
LEFT JOIN other ON asked.query_id = other.query_id AND asked.doc_id = other.doc_id
LEFT JOIN pairs ON asked.query_id = pairs.query_id AND asked.doc_id = pairs.doc_id
WHERE asked.rank <= $most OR asked.rank > asked.hits - $most
ORDER BY asked.query_id ASC, asked.rank ASC
