-- The mean over queries in every cell, between the ends of its bootstrap interval; those of one
-- measure come first.
SELECT
    setting, split, task, measure, system, queries,
    round(value, 6) AS value, round(low, 6) AS low, round(high, 6) AS high
FROM intervals
WHERE kind = 'all'
ORDER BY
    list_position(['small', 'base', 'large'], setting) ASC, setting ASC, split DESC, task DESC,
    measure <> $measure ASC, measure ASC,
    list_position(getvariable('systems'), system) ASC, system ASC
