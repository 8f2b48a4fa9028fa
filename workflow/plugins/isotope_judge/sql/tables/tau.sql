-- How far graded and sparse judgements rank the systems alike: Kendall's tau-b.
SELECT task, measure, systems, round(tau, 6) AS tau
FROM tau
ORDER BY task DESC, measure ASC
