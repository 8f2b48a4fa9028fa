-- The mean of every measure on graded judgements, and over how many queries. One row per cell;
-- `heading` is its column.
WITH judged AS (
    SELECT
        setting, split,
        count(DISTINCT query_id) FILTER (WHERE task = 't2m') AS t2m_queries,
        count(DISTINCT query_id) FILTER (WHERE task = 'm2t') AS m2t_queries
    FROM graded
    GROUP BY setting, split
)

SELECT
    setting, split, system, t2m_queries, m2t_queries, task || ' ' || measure AS heading,
    round(favg(value), 6) AS value, '' AS beats
FROM graded INNER JOIN judged USING (setting, split)
GROUP BY setting, split, system, t2m_queries, m2t_queries, task, measure
ORDER BY list_position(getvariable('systems'), system) ASC, system ASC, task DESC, measure ASC
