-- Lymperaiou et al. (COLING 2022), the ranking measures beside Table 3, by system.
-- A right answer that the run does not hold counts 0, and stands behind every rank in the median.
SELECT
    task,
    system,
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
GROUP BY task, system
ORDER BY task DESC, mrr DESC, system ASC
