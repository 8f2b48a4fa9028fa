-- Lymperaiou et al. (COLING 2022), Table 4: what a perturbed query does to the right answer's rank.
-- Lower is a worse rank, higher a better one; not to be found is the worst.
WITH placed AS (
    SELECT
        task,
        system,
        perturbation,
        coalesce(rank, 2147483647) AS rank,
        coalesce(rank_before, 2147483647) AS rank_before
    FROM perturbed
)

SELECT
    perturbation,
    task,
    system,
    count(*) AS queries,
    avg((rank > rank_before)::INT) AS lower_share,
    avg((rank < rank_before)::INT) AS higher_share,
    avg((rank = rank_before)::INT) AS same_share
FROM placed
GROUP BY perturbation, task, system
ORDER BY perturbation ASC, task DESC, lower_share DESC, system ASC
