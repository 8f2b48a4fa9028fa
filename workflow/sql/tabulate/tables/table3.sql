-- AToMiC (SIGIR 2023), Table 3: the mean of every measure, and which systems it surely beats.
-- One row per cell; `heading` is its column. A pair tested one way or both counts once.
WITH systems AS (
    SELECT
        system,
        row_number() OVER (
            ORDER BY list_position(getvariable('systems'), system), system
        )::INTEGER AS n
    FROM scores GROUP BY system
),

letters AS ( -- a to z, A to Z, then the Greek alphabet
    SELECT n, system, chr(n + CASE WHEN n < 27 THEN 96 WHEN n < 53 THEN 38 ELSE 892 END) AS letter
    FROM systems
),

means AS (
    SELECT setting, split, task, system, measure, round(favg(value), 6) AS value
    FROM scores GROUP BY setting, split, task, system, measure
),

wins AS (
    SELECT setting, split, task, measure, system, other FROM significance
    WHERE p_bonferroni < $alpha AND difference > 0
    UNION
    SELECT setting, split, task, measure, other, system FROM significance
    WHERE p_bonferroni < $alpha AND difference < 0
),

beats AS (
    SELECT wins.* EXCLUDE (other), string_agg(letter, '' ORDER BY n) AS beaten
    FROM wins INNER JOIN letters ON wins.other = letters.system
    GROUP BY ALL
)

SELECT
    setting, split, letter, system, task || ' ' || measure AS heading, value,
    coalesce(beaten, '') AS beats
FROM means INNER JOIN letters USING (system)
LEFT JOIN beats USING (setting, split, task, measure, system)
ORDER BY
    list_position(['small', 'base', 'large'], setting) ASC, setting ASC, split DESC, n ASC,
    task DESC,
    list_position(['MRR@10', 'R@10', 'R@1000', 'Success@10', 'nDCG@10', 'MAP'], measure) ASC,
    measure ASC
