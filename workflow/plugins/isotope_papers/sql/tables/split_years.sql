-- The years of each split's newspapers, and how many pictures every decade has.
WITH decades AS (
    SELECT split, year(date) // 10 * 10 AS decade, count(*) AS pictures
    FROM images
    GROUP BY ALL
),

spans AS (
    SELECT
        split, min(year(date)) AS first, round(median(year(date)))::INT AS middle,
        max(year(date)) AS last, count(DISTINCT year(date)) AS years
    FROM images
    GROUP BY split
)

SELECT
    spans.split, spans.first::VARCHAR AS first_year, spans.middle::VARCHAR AS median_year,
    spans.last::VARCHAR AS last_year, spans.years, printf('%ds', decades.decade) AS decade,
    decades.pictures,
    decades.pictures / sum(decades.pictures) OVER (PARTITION BY spans.split) AS share
FROM spans INNER JOIN decades ON spans.split = decades.split
ORDER BY list_position(['train', 'validation', 'test'], spans.split), decades.decade
