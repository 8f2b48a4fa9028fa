-- First answers that are wrong, as many of each system, drawn by the hash of seed and query, in an
-- order that tells nothing of the system.
WITH wrong AS (
    SELECT tops.*, qrels.text_id AS truth_id
    FROM tops
    INNER JOIN qrels ON tops.query_id = qrels.image_id AND qrels.relevance > 0
    ANTI JOIN qrels AS right_ones
        ON tops.query_id = right_ones.image_id AND tops.doc_id = right_ones.text_id
    QUALIFY row_number() OVER (
        PARTITION BY tops.system, tops.query_id ORDER BY qrels.text_id
    ) = 1
),

drawn AS (
    SELECT
        *, md5($seed::VARCHAR || '/' || system || '/' || query_id) AS lot,
        row_number() OVER (
            PARTITION BY system ORDER BY md5($seed::VARCHAR || '/' || query_id), query_id
        ) AS place
    FROM wrong
)

SELECT
    drawn.lot, 'm2t' AS task, drawn.system, drawn.query_id, drawn.truth_id,
    drawn.doc_id AS found_id,
    concat_ws(' | ', images.question, 'right: ' || truths.page_title, 'found: ' || found.page_title)
        AS query,
    images.image_url AS truth_url,
    coalesce(found.page_url, '') AS found_url,
    NULL::VARCHAR AS classes, NULL::INTEGER AS rating, NULL::VARCHAR AS assessor
FROM drawn
INNER JOIN images ON drawn.query_id = images.image_id
INNER JOIN texts AS truths ON drawn.truth_id = truths.text_id
INNER JOIN texts AS found ON drawn.doc_id = found.text_id
WHERE drawn.place <= $failures
ORDER BY drawn.lot
