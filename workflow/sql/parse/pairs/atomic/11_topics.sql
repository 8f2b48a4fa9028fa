-- Lines of JSON as Anserini's topics (id, title), Pyserini's documents (id, contents), and releases
-- (query_id or doc_id, text) have them.
WITH topic_lines AS (
    SELECT 'text' AS side, file, row, line FROM text_topics
    UNION ALL
    SELECT 'image' AS side, file, row, line FROM image_topics
),

parsed AS (
    SELECT *, CASE WHEN json_valid(line) THEN line::JSON END AS topic
    FROM topic_lines
    WHERE trim(line) <> ''
)

SELECT
    side,
    file,
    row,
    line,
    coalesce(topic ->> '$.id', topic ->> '$.query_id', topic ->> '$.doc_id') AS id,
    coalesce(topic ->> '$.title', topic ->> '$.contents', topic ->> '$.text') AS words
FROM parsed
ORDER BY side, file, row
