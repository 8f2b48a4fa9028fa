-- AToMiC (SIGIR 2023), section 5.3: of the first hits of two systems for a query, the share that
-- both return, relative to the longer list; the mean over the queries that either answered.
WITH lengths AS (
    SELECT task, system, query_id, count(*) AS hits FROM tops GROUP BY task, system, query_id
),

systems AS (
    SELECT DISTINCT task, system FROM tops
),

queries AS (
    SELECT DISTINCT task, query_id FROM tops
),

pairs AS (
    SELECT one.task, one.system, two.system AS other, queries.query_id
    FROM systems AS one
    INNER JOIN systems AS two ON one.task = two.task AND one.system < two.system
    INNER JOIN queries ON one.task = queries.task
),

shared AS (
    SELECT one.task, one.system, two.system AS other, one.query_id, count(*) AS hits
    FROM tops AS one
    INNER JOIN tops AS two
        ON
            one.task = two.task AND one.query_id = two.query_id AND one.doc_id = two.doc_id
            AND one.system < two.system
    GROUP BY one.task, one.system, two.system, one.query_id
)

SELECT
    pairs.task, pairs.system, pairs.other, count(*) AS queries,
    round(
        favg(coalesce(shared.hits, 0) / greatest(one.hits, two.hits)), 6
    ) AS overlap_share
FROM pairs
LEFT JOIN lengths AS one
    ON pairs.task = one.task AND pairs.system = one.system AND pairs.query_id = one.query_id
LEFT JOIN lengths AS two
    ON pairs.task = two.task AND pairs.other = two.system AND pairs.query_id = two.query_id
LEFT JOIN shared
    ON
        pairs.task = shared.task AND pairs.system = shared.system
        AND pairs.other = shared.other AND pairs.query_id = shared.query_id
WHERE one.hits IS NOT NULL OR two.hits IS NOT NULL
GROUP BY pairs.task, pairs.system, pairs.other
ORDER BY
    pairs.task DESC,
    list_position(getvariable('systems'), pairs.system) ASC, pairs.system ASC,
    list_position(getvariable('systems'), pairs.other) ASC, pairs.other ASC
