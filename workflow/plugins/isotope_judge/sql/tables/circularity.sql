-- What a model raises its own systems by above people's grades, beside the others.
SELECT
    judge, task, measure, system, relation, queries AS judged_queries,
    round(raised, 6) AS raised, round(raised_others, 6) AS raised_others,
    round(excess, 6) AS excess, round(low, 6) AS low, round(high, 6) AS high
FROM circularity
ORDER BY
    judge ASC, task DESC, measure ASC,
    list_position(getvariable('systems'), system) ASC, system ASC
