-- Crossmodal-3600: how differences in CIDEr correlate with people's side-by-side choices.
SELECT
    over, of, points,
    round(pearson, 6) AS pearson, round(spearman, 6) AS spearman, round(kendall, 6) AS kendall
FROM correlations
