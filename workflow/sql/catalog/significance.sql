-- Paired t-tests between systems, with Bonferroni's correction.
SELECT * EXCLUDE (filename) FROM files
