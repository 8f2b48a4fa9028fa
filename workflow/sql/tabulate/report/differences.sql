-- What two systems reach on each judged query of a task, the first one's greatest gains first.
WITH own AS (
    SELECT query_id, system, value
    FROM scores
    WHERE
        setting = $setting AND split = $split AND task = $task AND measure = $measure
        AND system IN ($one, $two)
)

SELECT
    one.query_id,
    one.value,
    two.value AS other_value,
    one.value - two.value AS difference
FROM own AS one INNER JOIN own AS two ON one.query_id = two.query_id
WHERE one.system = $one AND two.system = $two
ORDER BY difference DESC, one.value DESC, one.query_id ASC
