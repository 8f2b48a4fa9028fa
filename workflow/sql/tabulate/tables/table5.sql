-- AToMiC (SIGIR 2023), Table 5: systems as they come, trained ones, and fused ones with the
-- parameters that another split chose. One row per cell; `heading` is its column. Letters stay
-- within a comparison, and Bonferroni's correction counts its pairs (the paper's alpha = 6 for 4).
WITH means AS (
    SELECT setting, split, task, system, measure, round(favg(value), 6) AS value
    FROM scores GROUP BY setting, split, task, system, measure
),

tuned AS (
    SELECT setting, system, string_agg(task || ' ' || parameters, ', ' ORDER BY task DESC) AS chosen
    FROM trials WHERE chosen GROUP BY setting, system
),

ordered AS (
    SELECT
        *,
        row_number() OVER (
            ORDER BY
                list_position(
                    ['zero-shot', 'trained', 'fine-tuned', 'fused', 'reranked'], stage
                ),
                place
        )::INTEGER AS n
    FROM systems WHERE system IN (SELECT means.system FROM means)
),

letters AS ( -- a to z, A to Z, then the Greek alphabet
    SELECT *, chr(n + CASE WHEN n < 27 THEN 96 WHEN n < 53 THEN 38 ELSE 892 END) AS letter
    FROM ordered
),

compared AS (
    SELECT
        comparisons.comparison, means.setting, means.split, means.task, means.measure, means.system,
        count(*) OVER (
            PARTITION BY
                comparisons.comparison, means.setting, means.split, means.task, means.measure
        ) AS size
    FROM comparisons INNER JOIN means ON comparisons.system = means.system
),

wins AS (
    SELECT DISTINCT
        tested.setting, tested.split, tested.task, tested.measure, tested.system, tested.other
    FROM significance AS tested
    INNER JOIN compared AS one USING (setting, split, task, measure, system)
    INNER JOIN compared AS two
        ON
            tested.setting = two.setting AND tested.split = two.split AND tested.task = two.task
            AND tested.measure = two.measure AND tested.other = two.system
            AND one.comparison = two.comparison
    WHERE tested.difference > 0 AND tested.p * one.size * (one.size - 1) / 2 < $alpha
),

beats AS (
    SELECT
        wins.setting, wins.split, wins.task, wins.measure, wins.system,
        string_agg(letters.letter, '' ORDER BY letters.n) AS beaten
    FROM wins INNER JOIN letters ON wins.other = letters.system
    GROUP BY ALL
)

SELECT
    means.setting, means.split, letters.letter, letters.stage, means.system, letters.made_of,
    coalesce(tuned.chosen, letters.parameters) AS parameters,
    means.task || ' ' || means.measure AS heading, means.value,
    coalesce(beats.beaten, '') AS beats
FROM means INNER JOIN letters ON means.system = letters.system
LEFT JOIN tuned ON means.setting = tuned.setting AND means.system = tuned.system
LEFT JOIN beats
    ON
        means.setting = beats.setting AND means.split = beats.split AND means.task = beats.task
        AND means.measure = beats.measure AND means.system = beats.system
ORDER BY
    list_position(['small', 'base', 'large'], means.setting) ASC, means.setting ASC,
    means.split DESC, letters.n ASC, means.task DESC,
    list_position(['MRR@10', 'R@10', 'R@1000', 'Success@10', 'nDCG@10', 'MAP'], means.measure) ASC,
    means.measure ASC
