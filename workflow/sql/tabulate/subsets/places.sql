-- The documents of a pool in the order in which nested subsets take them: judged ones first, those
-- of every split where $positives asks for it, as OVEN (ICCV 2023, Fig. 5) samples only negatives.
WITH documents AS (
    SELECT 't2m' AS task, image_id AS doc_id, split FROM images
    UNION ALL
    SELECT 'm2t' AS task, text_id AS doc_id, split FROM texts
),

judged AS (
    SELECT DISTINCT 't2m' AS task, image_id AS doc_id
    FROM qrels
    WHERE $positives OR split = $split
    UNION ALL
    SELECT DISTINCT 'm2t' AS task, text_id AS doc_id
    FROM qrels
    WHERE $positives OR split = $split
)

SELECT
    documents.task,
    documents.doc_id,
    judged.doc_id IS NOT NULL AS judged,
    row_number() OVER (
        PARTITION BY documents.task
        ORDER BY judged.doc_id IS NULL, md5(documents.doc_id), documents.doc_id
    ) AS place
FROM documents LEFT JOIN judged USING (task, doc_id)
WHERE list_contains($pool, documents.split)
ORDER BY documents.task, place
