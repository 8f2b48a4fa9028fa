-- The first documents of two runs for some queries: the rank in the other run, and the grade of
-- those that are judged.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id, relevance FROM qrels
    UNION
    SELECT image_id AS query_id, text_id AS doc_id, relevance FROM qrels
),

hits AS (
    SELECT 0 AS side, one.query_id, one.doc_id, one.rank, two.rank AS other_rank
    FROM one LEFT JOIN two ON one.query_id = two.query_id AND one.doc_id = two.doc_id
    WHERE one.rank <= $most AND list_contains($queries, one.query_id)
    UNION ALL
    SELECT 1 AS side, two.query_id, two.doc_id, two.rank, one.rank AS other_rank
    FROM two LEFT JOIN one ON two.query_id = one.query_id AND two.doc_id = one.doc_id
    WHERE two.rank <= $most AND list_contains($queries, two.query_id)
)

SELECT hits.side, hits.query_id, hits.doc_id, hits.rank, hits.other_rank, pairs.relevance AS grade
FROM hits LEFT JOIN pairs ON hits.query_id = pairs.query_id AND hits.doc_id = pairs.doc_id
ORDER BY hits.query_id ASC, hits.side ASC, hits.rank ASC
