-- AToMiC (SIGIR 2023), Fig. 6: both ends of a run for some queries, and where another run has
-- the same documents.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id FROM qrels WHERE relevance > 0
    UNION
    SELECT image_id AS query_id, text_id AS doc_id FROM qrels WHERE relevance > 0
),

listed AS (
    SELECT query_id, doc_id, rank, score, max(rank) OVER (PARTITION BY query_id) AS hits
    FROM run WHERE list_contains($queries, query_id)
)

SELECT
    listed.query_id, listed.doc_id, listed.rank, listed.score, listed.hits,
    other.rank AS other_rank, pairs.doc_id IS NOT NULL AS relevant
FROM listed
LEFT JOIN other ON listed.query_id = other.query_id AND listed.doc_id = other.doc_id
LEFT JOIN pairs ON listed.query_id = pairs.query_id AND listed.doc_id = pairs.doc_id
WHERE listed.rank <= $most OR listed.rank > listed.hits - $most
ORDER BY listed.query_id ASC, listed.rank ASC
