-- The queries that a system answers best and worst, with the rank of the first relevant document.
-- Ties are broken by the lead of the first document over the second, the largest first.
WITH judged AS (
    SELECT
        CASE WHEN $task = 't2m' THEN text_id ELSE image_id END AS query_id,
        CASE WHEN $task = 't2m' THEN image_id ELSE text_id END AS doc_id
    FROM qrels
    WHERE split = $split AND relevance > 0
),

answers AS (
    SELECT
        judged.query_id, judged.doc_id, run.rank,
        row_number() OVER (
            PARTITION BY judged.query_id ORDER BY run.rank ASC NULLS LAST, judged.doc_id ASC
        ) AS nth
    FROM judged LEFT JOIN run ON judged.query_id = run.query_id AND judged.doc_id = run.doc_id
),

leads AS (
    SELECT query_id, max(score) FILTER (rank = 1) - max(score) FILTER (rank = 2) AS lead
    FROM run GROUP BY query_id
),

ordered AS (
    SELECT
        query_id, doc_id, rank,
        row_number()
            OVER (ORDER BY rank ASC NULLS LAST, lead DESC NULLS LAST, query_id ASC) AS nth_best,
        row_number()
            OVER (ORDER BY rank DESC NULLS FIRST, lead DESC NULLS LAST, query_id ASC) AS nth_worst
    FROM answers LEFT JOIN leads USING (query_id)
    WHERE nth = 1
)

SELECT query_id, doc_id, rank, nth_best <= $n AS is_best
FROM ordered
WHERE nth_best <= $n OR nth_worst <= $n
ORDER BY is_best DESC, CASE WHEN is_best THEN nth_best ELSE nth_worst END ASC
