-- Lymperaiou et al. (COLING 2022), Table 4: what a perturbed query does to the right answer's rank.
-- Lower is a worse rank, higher a better one; not to be found is the worst. queries_share is of all
-- queries (section 6.4).
WITH moves AS (
    SELECT
        task,
        system,
        perturbation,
        coalesce(rank, 2147483647) AS rank,
        coalesce(rank_before, 2147483647) AS rank_before
    FROM perturbed
),

all_queries AS (
    SELECT task, system, count(*) AS queries
    FROM moves
    WHERE perturbation = 'none'
    GROUP BY task, system
)

SELECT
    moves.perturbation,
    moves.task,
    moves.system,
    count(*) AS queries,
    count(*) / any_value(all_queries.queries) AS queries_share,
    avg((moves.rank > moves.rank_before)::INT) AS lower_share,
    avg((moves.rank < moves.rank_before)::INT) AS higher_share,
    avg((moves.rank = moves.rank_before)::INT) AS same_share
FROM moves
LEFT JOIN all_queries ON moves.task = all_queries.task AND moves.system = all_queries.system
WHERE moves.perturbation <> 'none'
GROUP BY moves.perturbation, moves.task, moves.system
ORDER BY moves.perturbation ASC, moves.task DESC, lower_share DESC, moves.system ASC
