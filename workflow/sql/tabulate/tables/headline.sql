-- One measure in one pool, both tasks side by side: what `dvc plots` compares between revisions.
SELECT
    system,
    round(favg(value) FILTER (WHERE task = 't2m'), 6) AS t2m,
    round(favg(value) FILTER (WHERE task = 'm2t'), 6) AS m2t
FROM scores
WHERE setting = $setting AND split = $split AND measure = $measure
GROUP BY system
ORDER BY list_position(getvariable('systems'), system) ASC, system ASC
