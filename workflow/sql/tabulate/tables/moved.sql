-- Lymperaiou et al. (COLING 2022), Table 4: what a perturbed query does to the right answer's rank.
-- Lower is a worse rank, higher a better one; not to be found is the worst. queries_share is of all
-- queries (section 6.4).
WITH placed AS (
    SELECT
        task,
        system,
        perturbation,
        coalesce(rank, 2147483647) AS rank,
        coalesce(rank_before, 2147483647) AS rank_before
    FROM perturbed
),

every AS (
    SELECT task, system, count(*) AS queries
    FROM placed
    WHERE perturbation = 'none'
    GROUP BY task, system
)

SELECT
    placed.perturbation,
    placed.task,
    placed.system,
    count(*) AS queries,
    count(*) / any_value(every.queries) AS queries_share,
    avg((placed.rank > placed.rank_before)::INT) AS lower_share,
    avg((placed.rank < placed.rank_before)::INT) AS higher_share,
    avg((placed.rank = placed.rank_before)::INT) AS same_share
FROM placed LEFT JOIN every ON placed.task = every.task AND placed.system = every.system
WHERE placed.perturbation <> 'none'
GROUP BY placed.perturbation, placed.task, placed.system
ORDER BY placed.perturbation ASC, placed.task DESC, lower_share DESC, placed.system ASC
