-- AToMiC (SIGIR 2023), Fig. 7 and appendix A: systems that were run on two collections, a measure
-- and a split for each.
WITH means AS (
    SELECT collection, split, task, system, measure, round(favg(value), 6) AS value
    FROM scores
    WHERE setting = $setting
    GROUP BY collection, split, task, system, measure
),

here AS (
    SELECT task, system, value FROM means
    WHERE collection = $here AND measure = $measure AND split = $split
),

there AS (
    SELECT task, system, value FROM means
    WHERE collection = $there AND measure = $other AND split = $other_split
)

SELECT task, system, here.value AS here, there.value AS there
FROM here INNER JOIN there USING (task, system)
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC
