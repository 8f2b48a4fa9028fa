-- Lymperaiou et al. (COLING 2022), the ranking measures: by system, as beside Table 3, or, with
-- $perturbed, as in Table 5: of all queries as they are (the perturbation none, its "Original") and
-- with each perturbation, where queries without a word of the kind stay as they are; beside them
-- the changed queries alone, intact and perturbed.
-- A right answer that is not in the run counts 0, and comes after every rank in the median.
WITH kinds AS (
    SELECT DISTINCT perturbation, task, system FROM ranks
),

unchanged AS (
    SELECT kinds.perturbation, own.task, own.system, own.rank_before AS rank
    FROM kinds
    INNER JOIN ranks AS own
        ON
            kinds.task = own.task AND kinds.system = own.system
            AND own.perturbation = 'none' AND kinds.perturbation <> 'none'
    ANTI JOIN ranks AS changed
        ON
            kinds.perturbation = changed.perturbation AND own.task = changed.task
            AND own.system = changed.system AND own.query_id = changed.query_id
),

compared AS (
    SELECT perturbation, task, system, 'all' AS query, rank FROM unchanged
    UNION ALL
    SELECT perturbation, task, system, 'all' AS query, rank FROM ranks
    UNION ALL
    SELECT perturbation, task, system, 'intact' AS query, rank_before AS rank FROM ranks
    WHERE perturbation <> 'none'
    UNION ALL
    SELECT perturbation, task, system, 'perturbed' AS query, rank FROM ranks
    WHERE perturbation <> 'none'
),

measured AS (
    SELECT
        perturbation,
        task,
        system,
        query,
        count(*) AS queries,
        avg(coalesce(rank <= 1, false)::INT) AS success_at_1,
        avg(coalesce(rank <= 5, false)::INT) AS success_at_5,
        avg(coalesce(rank <= 10, false)::INT) AS success_at_10,
        round(favg(CASE WHEN rank <= 5 THEN 1 / rank ELSE 0 END), 6) AS mrr_at_5,
        round(favg(CASE WHEN rank <= 10 THEN 1 / rank ELSE 0 END), 6) AS mrr_at_10,
        round(favg(coalesce(1 / rank, 0)), 6) AS mrr,
        nullif(quantile_disc(coalesce(rank, 2147483647), 0.5), 2147483647) AS median_rank,
        count(*) FILTER (WHERE rank IS DISTINCT FROM 1) AS fails,
        avg((rank IS DISTINCT FROM 1)::INT) AS fails_share
    FROM compared
    GROUP BY perturbation, task, system, query
)

SELECT COLUMNS(LAMBDA c: $perturbed OR c NOT IN ('perturbation', 'query'))
FROM measured
ORDER BY
    perturbation <> 'none' ASC, perturbation ASC, task DESC,
    CASE WHEN NOT $perturbed THEN mrr END DESC,
    CASE WHEN $perturbed THEN list_position(getvariable('systems'), system) END ASC,
    system ASC, query ASC
