-- OVEN (ICCV 2023), Fig. 6: one measure in one pool for entities of the tail, of the head and of
-- what lies between, with its interval.
SELECT task, stratum, system, queries, value, low, high
FROM intervals
WHERE
    kind = 'popularity by monthly views' AND setting = $setting AND split = $split
    AND measure = $measure AND task = 'm2t' AND stratum IN ('tail', 'between', 'head')
ORDER BY
    list_position(['tail', 'between', 'head'], stratum) ASC,
    list_position(getvariable('systems'), system) ASC, system ASC
