-- Lymperaiou et al. (COLING 2022), Table 5: the ranking measures of all queries as they are (the
-- perturbation none, its "Original") and with each perturbation, where queries without a word of
-- the kind stay as they are; beside them the changed queries alone, intact and perturbed.
WITH kinds AS (
    SELECT DISTINCT perturbation, task, system FROM perturbed
),

unchanged AS (
    SELECT kinds.perturbation, own.task, own.system, own.rank_before AS rank
    FROM kinds
    INNER JOIN perturbed AS own
        ON
            kinds.task = own.task AND kinds.system = own.system
            AND own.perturbation = 'none' AND kinds.perturbation <> 'none'
    ANTI JOIN perturbed AS changed
        ON
            kinds.perturbation = changed.perturbation AND own.task = changed.task
            AND own.system = changed.system AND own.query_id = changed.query_id
),

ranks AS (
    SELECT perturbation, task, system, 'all' AS query, rank FROM unchanged
    UNION ALL
    SELECT perturbation, task, system, 'all' AS query, rank FROM perturbed
    UNION ALL
    SELECT perturbation, task, system, 'intact' AS query, rank_before AS rank FROM perturbed
    WHERE perturbation <> 'none'
    UNION ALL
    SELECT perturbation, task, system, 'perturbed' AS query, rank FROM perturbed
    WHERE perturbation <> 'none'
)

SELECT
    perturbation,
    task,
    system,
    query,
    count(*) AS queries,
    avg(coalesce(rank <= 1, false)::INT) AS success_at_1,
    avg(coalesce(rank <= 5, false)::INT) AS success_at_5,
    avg(coalesce(rank <= 10, false)::INT) AS success_at_10,
    avg(CASE WHEN rank <= 5 THEN 1 / rank ELSE 0 END) AS mrr_at_5,
    avg(CASE WHEN rank <= 10 THEN 1 / rank ELSE 0 END) AS mrr_at_10,
    avg(coalesce(1 / rank, 0)) AS mrr,
    nullif(quantile_disc(coalesce(rank, 2147483647), 0.5), 2147483647) AS median_rank,
    count(*) FILTER (WHERE rank IS DISTINCT FROM 1) AS fails,
    avg((rank IS DISTINCT FROM 1)::INT) AS fails_share
FROM ranks
GROUP BY perturbation, task, system, query
ORDER BY
    perturbation <> 'none' ASC, perturbation ASC, task DESC,
    list_position(getvariable('systems'), system) ASC, system ASC, query ASC
