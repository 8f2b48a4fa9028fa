-- OVEN (ICCV 2023), Table 3: the share of each system's judgements that name a class; incorrect are
-- those that do not name `correct`.
WITH named AS (
    SELECT system, unnest(classes) AS class FROM studied
    UNION ALL
    SELECT system, 'incorrect' AS class FROM studied WHERE NOT list_contains(classes, 'correct')
),

judged AS (
    SELECT system, count(*) AS judgements FROM studied GROUP BY system
)

SELECT
    named.system, named.class, count(*) AS judgements,
    count(*) / any_value(judged.judgements) AS judgements_share
FROM named INNER JOIN judged ON named.system = judged.system
GROUP BY named.system, named.class
ORDER BY
    list_position(getvariable('systems'), named.system) ASC, named.system ASC,
    named.class = 'correct' DESC, named.class = 'incorrect' DESC, judgements DESC, named.class ASC
