-- The mean of every measure on graded judgements. One row per cell; `heading` is its column.
SELECT
    setting, split, system, task || ' ' || measure AS heading, round(favg(value), 6) AS value,
    '' AS beats
FROM graded
GROUP BY setting, split, system, task, measure
ORDER BY list_position(getvariable('systems'), system) ASC, system ASC, task DESC, measure ASC
