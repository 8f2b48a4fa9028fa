-- OVEN (ICCV 2023), section 6, error analysis: the first answers of every system to the same
-- questions, right ones included. $examples judged questions, of $subset if that is set, are drawn
-- by the hash of seed and query; the order of rows does not reveal the system.
WITH padded AS ( -- not every collection has subsets
    SELECT * FROM images
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS subset WHERE FALSE
),

picks AS (
    SELECT padded.image_id AS query_id, min(qrels.text_id) AS truth_id
    FROM padded
    INNER JOIN qrels ON padded.image_id = qrels.image_id AND qrels.relevance > 0
    WHERE
        list_contains($splits, qrels.split)
        AND ($subset::VARCHAR IS NULL OR padded.subset = $subset)
    GROUP BY padded.image_id
    ORDER BY md5($seed::VARCHAR || '/' || query_id), query_id
    LIMIT $examples
),

systems AS (
    SELECT unnest($named::VARCHAR[]) AS system
),

answers AS (
    SELECT
        systems.system, picks.query_id, top_hits.doc_id AS found_id,
        md5($seed::VARCHAR || '/' || systems.system || '/' || picks.query_id) AS lot,
        coalesce(qrels.text_id, picks.truth_id) AS truth_id
    FROM picks
    CROSS JOIN systems
    LEFT JOIN top_hits ON systems.system = top_hits.system AND picks.query_id = top_hits.query_id
    LEFT JOIN qrels
        ON
            top_hits.query_id = qrels.image_id AND top_hits.doc_id = qrels.text_id
            AND qrels.relevance > 0
)

SELECT
    answers.lot, 'm2t' AS task, answers.system, answers.query_id, answers.truth_id,
    answers.found_id,
    concat_ws(
        ' | ', images.question, 'right: ' || truth_texts.page_title,
        'found: ' || coalesce(answer_texts.page_title, 'nothing')
    ) AS query,
    images.image_url AS truth_url,
    coalesce(answer_texts.page_url, '') AS found_url,
    NULL::VARCHAR AS classes, NULL::INTEGER AS rating, NULL::VARCHAR AS assessor
FROM answers
INNER JOIN images ON answers.query_id = images.image_id
INNER JOIN texts AS truth_texts ON answers.truth_id = truth_texts.text_id
LEFT JOIN texts AS answer_texts ON answers.found_id = answer_texts.text_id
ORDER BY answers.lot
