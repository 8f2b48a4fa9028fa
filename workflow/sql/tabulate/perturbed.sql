-- Lymperaiou et al. (COLING 2022), Table 5: the ranking measures of perturbed queries, and those of
-- the same queries before.
WITH both_ranks AS (
    SELECT perturbation, task, system, 'intact' AS query, rank_before AS rank FROM perturbed
    UNION ALL
    SELECT perturbation, task, system, 'perturbed' AS query, rank FROM perturbed
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
FROM both_ranks
GROUP BY perturbation, task, system, query
ORDER BY
    perturbation ASC, task DESC, list_position(getvariable('systems'), system) ASC, system ASC,
    query ASC
