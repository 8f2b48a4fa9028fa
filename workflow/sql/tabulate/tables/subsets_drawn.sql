-- The points of `subsets` that are exact for every query; a size at which no system's value is has
-- one row a task without a value, whose setting says for how many queries the best one is.
WITH points AS (
    SELECT
        task, system, documents, value, exact,
        max(exact) OVER (PARTITION BY task, documents) AS best
    FROM subsets
    WHERE split = $split AND measure = $measure
)

SELECT
    task, system, documents, CASE WHEN exact = 1 THEN round(value, 6) END AS value,
    CASE WHEN exact = 1 THEN '' ELSE printf('not drawn: exact for %.0f %%', floor(100 * exact)) END
        AS setting
FROM points
WHERE exact = 1 OR best < 1
QUALIFY
    exact = 1
    OR row_number() OVER (PARTITION BY task, documents ORDER BY exact DESC, system ASC) = 1
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC, documents ASC
