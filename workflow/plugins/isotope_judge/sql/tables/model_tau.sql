-- How far people and a model rank systems alike, with the model's own systems and without them.
SELECT
    judge, task, measure, queries AS judged_queries, systems, own, round(tau, 6) AS tau,
    round(tau_without, 6) AS tau_without, round(sampled_p, 6) AS sampled_p
FROM model_tau
ORDER BY judge ASC, task DESC, measure ASC
