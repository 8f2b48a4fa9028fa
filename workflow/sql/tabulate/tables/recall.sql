-- Approximate systems: the share of the exact first k among the first k found, and megabytes that
-- the index holds in memory beside those of the vectors that exact search goes through.
SELECT
    setting,
    split,
    task,
    system,
    documents,
    queries,
    bytes / 1e6 AS score_index_mb,
    flat_bytes / 1e6 AS score_flat_mb,
    'recall @' || k AS heading,
    recall AS value,
    '' AS beats
FROM recall
ORDER BY
    list_position(['small', 'base', 'large'], setting) ASC,
    split DESC, task DESC, list_position(getvariable('systems'), system) ASC, system ASC, k ASC
