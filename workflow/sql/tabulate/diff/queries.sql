-- How each query of the later snapshot has changed: whether the earlier one has it, with the same
-- answers or others, and whether its own words or picture differ. A query counts in several strata.
WITH pairs AS (
    SELECT
        coalesce(identities.after_id, 'gone ' || b.text_id) AS text_id, b.image_id,
        FALSE AS is_after
    FROM before_qrels AS b LEFT JOIN identities ON b.text_id = identities.before_id
    UNION ALL
    SELECT text_id, image_id, TRUE AS is_after FROM after_qrels
),

answers AS (
    SELECT 't2m' AS task, 'text' AS kind, text_id AS query_id, image_id AS doc_id, is_after
    FROM pairs
    UNION ALL
    SELECT 'm2t' AS task, 'image' AS kind, image_id AS query_id, text_id AS doc_id, is_after
    FROM pairs
),

queries AS (
    SELECT
        task, kind, query_id,
        list(doc_id ORDER BY doc_id) FILTER (is_after) AS now,
        list(doc_id ORDER BY doc_id) FILTER (NOT is_after) AS earlier
    FROM answers GROUP BY task, kind, query_id HAVING bool_or(is_after)
)

SELECT
    q.task, q.query_id,
    unnest(CASE
        WHEN q.earlier IS NULL THEN ['all', 'new']
        WHEN q.earlier <> q.now THEN ['all', 'surviving', 'pairs changed']
        WHEN c.change <> 'unchanged' THEN ['all', 'surviving', 'edited']
        ELSE ['all', 'surviving', 'unchanged']
    END) AS stratum
FROM queries AS q LEFT JOIN changes AS c ON q.kind = c.kind AND q.query_id = c.after_id
ORDER BY task ASC, query_id ASC, stratum ASC
