-- AToMiC (SIGIR 2023), Fig. 6: both ends of a run for some queries, and where another run has
-- the same documents.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id FROM qrels WHERE relevance > 0
    UNION
    SELECT image_id AS query_id, text_id AS doc_id FROM qrels WHERE relevance > 0
),

query_hits AS (
    SELECT query_id, doc_id, rank, score, max(rank) OVER (PARTITION BY query_id) AS hits
    FROM run WHERE list_contains($queries, query_id)
)

SELECT
    query_hits.query_id, query_hits.doc_id, query_hits.rank, query_hits.score, query_hits.hits,
    other.rank AS other_rank, pairs.doc_id IS NOT NULL AS relevant
FROM query_hits
LEFT JOIN other ON query_hits.query_id = other.query_id AND query_hits.doc_id = other.doc_id
LEFT JOIN pairs ON query_hits.query_id = pairs.query_id AND query_hits.doc_id = pairs.doc_id
WHERE query_hits.rank <= $most OR query_hits.rank > query_hits.hits - $most
ORDER BY query_hits.query_id ASC, query_hits.rank ASC
