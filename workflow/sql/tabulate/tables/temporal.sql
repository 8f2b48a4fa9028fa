-- Systems built on the earlier and on the later snapshot, judged on the later one, by what became
-- of the queries; `at_home` is the earlier ones' mean on the earlier snapshot. The relative drop
-- has the ends of its paired bootstrap interval.
SELECT
    task, stratum AS queries, queries AS number, measure, system,
    round(home, 6) AS at_home,
    round(earlier, 6) AS built_earlier,
    round(later, 6) AS built_later,
    round(relative_drop, 6) AS drop_share,
    round(low, 6) AS low_share,
    round(high, 6) AS high_share
FROM temporal
WHERE setting = $setting AND split = $split
ORDER BY
    task DESC,
    list_position(['all', 'surviving', 'unchanged', 'edited', 'pairs changed', 'new'], stratum) ASC,
    list_position($measures, measure) ASC,
    list_position(getvariable('systems'), system) ASC, system ASC
