-- At what rank each system found each relevant document of a query; none: not within its depth.
WITH judged AS (
    SELECT unnest($judged::VARCHAR[]) AS doc_id
),

found AS (
    SELECT
        setting,
        split,
        system,
        doc_id,
        rank
    FROM runs
    WHERE collection = $collection AND task = $task AND query_id = $id
),

asked AS (
    SELECT DISTINCT
        setting,
        split,
        system
    FROM found
)

SELECT
    asked.setting,
    asked.split,
    asked.system,
    judged.doc_id,
    found.rank
FROM asked
CROSS JOIN judged
LEFT JOIN found
    ON
        asked.setting = found.setting AND asked.split = found.split
        AND asked.system = found.system AND judged.doc_id = found.doc_id
ORDER BY
    asked.setting DESC,
    asked.split ASC,
    found.rank ASC NULLS LAST,
    asked.system ASC,
    judged.doc_id ASC
