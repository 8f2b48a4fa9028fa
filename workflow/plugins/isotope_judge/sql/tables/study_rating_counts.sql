-- How often each rating is given (Lymperaiou et al., COLING 2022, Figure 9).
SELECT
    task,
    system,
    rating,
    count(*) AS judgements,
    count(*) / sum(count(*)) OVER (PARTITION BY task, system) AS judgements_share
FROM studied
WHERE rating IS NOT NULL
GROUP BY task, system, rating
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC, rating ASC
