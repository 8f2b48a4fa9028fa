-- Collections side by side, and the mean of each part of them, every collection weighing alike; of
-- a system that answered all of them only. `mean` is that of the measures of a task.
WITH per_measure AS (
    SELECT collection, task, system, measure, favg(value) AS value
    FROM scores
    WHERE setting = $setting AND split = $split
    GROUP BY collection, task, system, measure
),

cells AS (
    SELECT collection, task, system, measure, value FROM per_measure
    UNION ALL
    SELECT collection, task, system, 'mean' AS measure, favg(value) AS value
    FROM per_measure GROUP BY collection, task, system
),

parts AS (
    SELECT
        generate_subscripts($parts, 1) AS place,
        unnest($parts) AS part,
        unnest($members) AS members
),

rows AS (
    SELECT 0 AS place, collection, 1 AS collections, task, system, measure, value FROM cells
    UNION ALL
    SELECT
        place, part AS collection, count(*) AS collections, task, system, measure,
        favg(value) AS value
    FROM parts INNER JOIN cells ON list_contains(parts.members, cells.collection)
    GROUP BY place, part, members, task, system, measure
    HAVING count(*) = len(members)
)

SELECT
    collection, collections, system, task || ' ' || measure AS heading,
    round(value, 6) AS value, '' AS beats
FROM rows
ORDER BY
    place ASC, collection ASC, list_position(getvariable('systems'), system) ASC, system ASC,
    task DESC, measure = 'mean' ASC,
    list_position($measures, measure) ASC, measure ASC
