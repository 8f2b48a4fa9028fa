-- The right answers to some queries: the first by their better rank in two runs, with both ranks,
-- how many there are, and the rank of the first one in each run.
WITH pairs AS (
    SELECT text_id AS query_id, image_id AS doc_id, relevance FROM qrels WHERE relevance > 0
    UNION
    SELECT image_id AS query_id, text_id AS doc_id, relevance FROM qrels WHERE relevance > 0
),

answers AS (
    SELECT
        pairs.query_id, pairs.doc_id, pairs.relevance AS grade,
        one.rank, two.rank AS other_rank, least(one.rank, two.rank) AS better_rank
    FROM pairs
    LEFT JOIN one ON pairs.query_id = one.query_id AND pairs.doc_id = one.doc_id
    LEFT JOIN two ON pairs.query_id = two.query_id AND pairs.doc_id = two.doc_id
    WHERE list_contains($queries, pairs.query_id)
)

SELECT
    query_id, doc_id, grade, rank, other_rank,
    count(*) OVER (PARTITION BY query_id) AS answers,
    min(rank) OVER (PARTITION BY query_id) AS first_rank,
    min(other_rank) OVER (PARTITION BY query_id) AS first_other_rank
FROM answers
QUALIFY
    row_number()
        OVER (PARTITION BY query_id ORDER BY better_rank ASC NULLS LAST, doc_id ASC)
    <= $most
ORDER BY query_id ASC, better_rank ASC NULLS LAST, doc_id ASC
