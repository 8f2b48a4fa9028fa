-- AToMiC (SIGIR 2023), Fig. 7: systems that were run on two collections, a measure for each.
WITH means AS (
    SELECT collection, task, system, measure, round(favg(value), 6) AS value
    FROM scores
    WHERE setting = $setting AND split = $split
    GROUP BY collection, task, system, measure
),

here AS (
    SELECT task, system, value FROM means WHERE collection = $here AND measure = $measure
),

there AS (
    SELECT task, system, value FROM means WHERE collection = $there AND measure = $other
)

SELECT task, system, here.value AS here, there.value AS there
FROM here INNER JOIN there USING (task, system)
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC
