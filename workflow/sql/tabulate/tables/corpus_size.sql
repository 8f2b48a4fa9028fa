-- AToMiC (SIGIR 2023), Fig. 5: effectiveness against the number of documents that are searched.
-- Of a corpus that splits share, an item is in all splits that judge it.
WITH names AS (
    SELECT [
        'train', 'validation', 'test',
        'train+validation', 'train+test', 'validation+test', 'train+validation+test'
    ] AS every
),

pools AS (
    SELECT
        'small' AS setting,
        list_filter(every, LAMBDA s: list_contains(string_split(s, '+'), $split)) AS splits
    FROM names
    UNION ALL
    SELECT 'base' AS setting, every AS splits FROM names
    UNION ALL
    SELECT 'large' AS setting, list_append(every, 'other') AS splits FROM names
),

sizes AS (
    SELECT 't2m' AS task, split, count(*) AS n FROM images GROUP BY split
    UNION ALL
    SELECT 'm2t' AS task, split, count(*) AS n FROM texts GROUP BY split
),

pool_sizes AS (
    SELECT task, setting, sum(n)::BIGINT AS documents
    FROM pools INNER JOIN sizes ON list_contains(pools.splits, sizes.split)
    GROUP BY task, setting
),

means AS (
    SELECT task, system, setting, round(favg(value), 6) AS value
    FROM scores
    WHERE split = $split AND measure = $measure
    GROUP BY task, system, setting
)

SELECT task, system, setting, documents, value
FROM means INNER JOIN pool_sizes USING (task, setting)
ORDER BY
    task DESC, list_position(getvariable('systems'), system) ASC, system ASC,
    documents ASC, setting ASC
