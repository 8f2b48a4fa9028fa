-- The first documents of each system for a query, and what the judgements say of them.
WITH judged AS (
    SELECT
        unnest($judged::VARCHAR[]) AS doc_id,
        unnest($relevance::INTEGER[]) AS relevance
)

SELECT
    runs.setting,
    runs.split,
    runs.system,
    runs.rank,
    runs.doc_id,
    round(runs.score, 4) AS score,
    coalesce(judged.relevance, 0) AS relevance
FROM runs
LEFT JOIN judged ON runs.doc_id = judged.doc_id
WHERE
    runs.collection = $collection AND runs.task = $task AND runs.query_id = $id
    AND runs.rank <= $most
ORDER BY runs.setting DESC, runs.split ASC, runs.system ASC, runs.rank ASC
