-- AToMiC (SIGIR 2023), Fig. 6: every judged pair of a task's queries, and where two runs have it.
WITH pairs AS (
    SELECT
        CASE WHEN $task = 't2m' THEN text_id ELSE image_id END AS query_id,
        CASE WHEN $task = 't2m' THEN image_id ELSE text_id END AS doc_id
    FROM qrels
    WHERE split = $split AND relevance > 0
)

SELECT pairs.query_id, pairs.doc_id, one.rank, two.rank AS other_rank
FROM pairs
LEFT JOIN one ON pairs.query_id = one.query_id AND pairs.doc_id = one.doc_id
LEFT JOIN two ON pairs.query_id = two.query_id AND pairs.doc_id = two.doc_id
ORDER BY pairs.query_id ASC, pairs.doc_id ASC
