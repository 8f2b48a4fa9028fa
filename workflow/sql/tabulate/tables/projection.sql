-- How many texts of the source have a section in the dump, by method, and the BM25 scores.
SELECT
    CASE WHEN text_id IS NULL AND method <> 'no_text' THEN 'none' ELSE method END AS matched_by,
    count(*) AS texts,
    round(count(*) / sum(count(*)) OVER (), 6) AS share,
    round(min(score), 6) AS score_min,
    round(quantile_cont(score, 0.25), 6) AS score_q1,
    round(median(score), 6) AS score_median,
    round(quantile_cont(score, 0.75), 6) AS score_q3,
    round(max(score), 6) AS score_max
FROM projection
GROUP BY matched_by
ORDER BY texts DESC, matched_by ASC
