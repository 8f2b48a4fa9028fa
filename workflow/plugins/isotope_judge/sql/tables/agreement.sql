-- How far every two assessors agree on what both have graded: Cohen's kappa.
SELECT assessor, other, pairs, same_share, round(kappa, 6) AS kappa
FROM agreement
ORDER BY assessor ASC, other ASC
