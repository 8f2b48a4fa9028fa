-- The mean of every system by people's grades, by a model's, and by both, with its interval.
SELECT
    judge, task, measure, system, judged_by, queries, round(value, 6) AS value,
    round(low, 6) AS low, round(high, 6) AS high, round(high - low, 6) AS width,
    round(weight, 6) AS weight, coalesce(reason, '') AS reason
FROM estimates
ORDER BY
    judge ASC, task DESC, measure ASC,
    list_position(getvariable('systems'), system) ASC, system ASC,
    list_position(['people', 'model', 'corrected'], judged_by) ASC
