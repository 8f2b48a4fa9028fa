-- One measure in one pool by stratum of queries, with its interval: AToMiC (SIGIR 2023), section 6,
-- proposes such an analysis by popularity and has none. A kind of a single stratum says nothing
-- beside others.
WITH pool AS (
    SELECT * FROM intervals
    WHERE
        kind <> 'all' AND setting = $setting AND measure = $measure
        AND split IN ('all', $split)
),

telling AS (
    SELECT kind FROM pool WHERE stratum NOT IN ('macro', 'head - tail')
    GROUP BY kind HAVING count(DISTINCT stratum) > 1
)

SELECT
    task, kind, stratum, split, system, queries,
    round(value, 6) AS value, round(low, 6) AS low, round(high, 6) AS high
FROM pool
WHERE kind IN (SELECT kind FROM telling) OR NOT EXISTS (FROM telling)
ORDER BY
    task DESC,
    list_position(
        ['popularity', 'caption', 'style', 'decade', 'language', 'split'], kind.split(' ')[1]
    ) ASC,
    kind ASC,
    stratum = 'macro' ASC, stratum = 'head - tail' ASC,
    list_position(['head', 'between', 'tail'], stratum) ASC, stratum ASC,
    list_position(getvariable('systems'), system) ASC, system ASC
