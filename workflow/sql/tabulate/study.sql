-- Failures for people to judge: as many of each system and task, drawn by the hash of seed and
-- query, in an order that tells nothing of the system.
WITH drawn AS (
    SELECT
        *,
        md5($seed::VARCHAR || '/' || task || '/' || system || '/' || query_id) AS lot,
        row_number() OVER (
            PARTITION BY task, system
            ORDER BY md5($seed::VARCHAR || '/' || task || '/' || query_id), query_id
        ) AS place
    FROM failures
    WHERE found_id IS NOT NULL
)

SELECT
    drawn.lot,
    drawn.task,
    drawn.system,
    drawn.query_id,
    drawn.truth_id,
    drawn.found_id,
    coalesce(texts.context_section_description, texts.page_title, '') AS query,
    truths.image_url AS truth_url,
    founds.image_url AS found_url,
    NULL::VARCHAR AS classes,
    NULL::INTEGER AS rating,
    NULL::VARCHAR AS assessor
FROM drawn
INNER JOIN images AS truths ON drawn.truth_id = truths.image_id
INNER JOIN images AS founds ON drawn.found_id = founds.image_id
LEFT JOIN texts ON drawn.query_id = texts.text_id
WHERE drawn.place <= $failures
ORDER BY drawn.lot
