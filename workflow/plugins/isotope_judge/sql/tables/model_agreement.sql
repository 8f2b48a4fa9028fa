-- How far a model grades as people do, on the pairs that both have graded.
SELECT
    judge, task, pairs, same_share, round(kappa, 6) AS kappa,
    round(weighted_kappa, 6) AS weighted_kappa, round(difference, 6) AS difference,
    mass AS mass_share
FROM model_agreement
ORDER BY judge ASC, task DESC
