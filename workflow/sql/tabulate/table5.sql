-- AToMiC (SIGIR 2023), Table 5: systems as they come, trained ones, and fused ones with the
-- parameters that another split chose. One row per cell; `heading` is its column.
WITH means AS (
    SELECT setting, split, task, system, measure, round(favg(value), 6) AS value
    FROM scores GROUP BY setting, split, task, system, measure
),

tuned AS (
    SELECT setting, system, string_agg(task || ' ' || parameters, ', ' ORDER BY task DESC) AS chosen
    FROM trials WHERE chosen GROUP BY setting, system
)

SELECT
    means.setting, means.split, systems.stage, means.system, systems.made_of,
    coalesce(tuned.chosen, systems.parameters) AS parameters,
    means.task || ' ' || means.measure AS heading, means.value, '' AS beats
FROM means INNER JOIN systems ON means.system = systems.system
LEFT JOIN tuned ON means.setting = tuned.setting AND means.system = tuned.system
ORDER BY
    list_position(['small', 'base', 'large'], means.setting) ASC, means.setting ASC,
    means.split DESC, list_position(['zero-shot', 'trained', 'fine-tuned', 'fused'], stage) ASC,
    systems.place ASC, means.task DESC,
    list_position(['MRR@10', 'R@10', 'R@1000', 'Success@10', 'nDCG@10', 'MAP'], means.measure) ASC,
    means.measure ASC
