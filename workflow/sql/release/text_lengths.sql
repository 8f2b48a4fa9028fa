-- How many texts there are, and how many words they have.
WITH counted AS (
    SELECT len(regexp_extract_all(title || ' ' || text, '\S+')) AS words FROM texts
)

SELECT
    count(*) AS texts,
    coalesce(round(avg(words), 1), 0) AS mean_words,
    coalesce(quantile_disc(words, 0.5), 0) AS median_words,
    coalesce(quantile_disc(words, 0.95), 0) AS p95_words
FROM counted
