-- Each judged query with the rank of its first right answer, the picture that this answer is or
-- belongs to, and the picture of what was ranked first; a text's picture is its first judged one.
WITH judged AS (
    SELECT
        image_id,
        CASE $task WHEN 't2m' THEN text_id ELSE image_id END AS query_id,
        CASE $task WHEN 't2m' THEN image_id ELSE text_id END AS doc_id
    FROM qrels
    WHERE split = $split AND relevance > 0
),

right_answers AS (
    SELECT
        judged.query_id,
        min(run.rank) AS rank,
        arg_min(judged.image_id, (coalesce(run.rank, 2147483647), judged.image_id)) AS truth_id
    FROM judged LEFT JOIN run USING (query_id, doc_id)
    GROUP BY judged.query_id
),

pictures AS (
    SELECT CASE $task WHEN 't2m' THEN image_id ELSE text_id END AS doc_id, min(image_id) AS image_id
    FROM qrels
    GROUP BY CASE $task WHEN 't2m' THEN image_id ELSE text_id END
)

SELECT
    own.query_id,
    own.rank::INTEGER AS rank,
    own.truth_id,
    run.doc_id,
    CASE $task WHEN 't2m' THEN run.doc_id ELSE pictures.image_id END AS found_id
FROM right_answers AS own
LEFT JOIN run ON own.query_id = run.query_id AND run.rank = 1
LEFT JOIN pictures ON run.doc_id = pictures.doc_id
ORDER BY own.query_id
