-- Human judgements: the share of each system's judgements that name a class of failure, or the
-- alternative (Lymperaiou et al., COLING 2022, Table 2).
WITH named AS (
    SELECT task, system, rating, unnest(classes) AS class FROM studied
),

judged AS (
    SELECT task, system, count(*) AS judgements FROM studied GROUP BY task, system
)

SELECT
    named.task,
    named.system,
    named.class,
    count(*) AS judgements,
    count(*) / any_value(judged.judgements) AS judgements_share,
    avg(named.rating) AS rating
FROM named INNER JOIN judged ON named.task = judged.task AND named.system = judged.system
GROUP BY named.task, named.system, named.class
ORDER BY
    named.task DESC, list_position(getvariable('systems'), named.system) ASC, named.system ASC,
    judgements DESC, named.class ASC
