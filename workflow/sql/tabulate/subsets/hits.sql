-- A run on nested subsets of its pool: per subset and query its relevant hits, ranked anew among
-- the hits that the subset has, and the number of those hits.
WITH relevant AS (
    SELECT
        CASE WHEN $task = 't2m' THEN text_id ELSE image_id END AS query_id,
        CASE WHEN $task = 't2m' THEN image_id ELSE text_id END AS doc_id
    FROM qrels
    WHERE split = $split AND relevance > 0
),

sizes AS (
    SELECT unnest($sizes) AS size
),

lengths AS (
    SELECT query_id, count(*) AS retrieved FROM run GROUP BY query_id
),

remaining AS (
    SELECT
        sizes.size, run.query_id, run.doc_id,
        row_number() OVER (PARTITION BY sizes.size, run.query_id ORDER BY run.rank)::INTEGER AS rank
    FROM run
    INNER JOIN places ON run.doc_id = places.doc_id AND places.task = $task
    INNER JOIN sizes ON places.place <= sizes.size
),

counted AS (
    SELECT size, query_id, count(*) AS remaining FROM remaining GROUP BY size, query_id
),

hits AS (
    SELECT remaining.size, remaining.query_id, remaining.doc_id, remaining.rank
    FROM remaining INNER JOIN relevant USING (query_id, doc_id)
)

SELECT
    sizes.size, lengths.query_id, lengths.retrieved, coalesce(counted.remaining, 0) AS remaining,
    hits.doc_id, hits.rank
FROM lengths CROSS JOIN sizes
LEFT JOIN counted ON sizes.size = counted.size AND lengths.query_id = counted.query_id
LEFT JOIN hits ON sizes.size = hits.size AND lengths.query_id = hits.query_id
ORDER BY sizes.size, lengths.query_id, hits.rank
