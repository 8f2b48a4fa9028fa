-- The queries of a qrels file may be texts or images; what more of its rows match decides. Where
-- several lists judge a pair in one split, that of a list with grades counts, as people give them,
-- before a list that names what belongs together; then the greater.
WITH lists AS (
    SELECT
        file,
        bool_or(relevance <> 1) AS has_grades,
        count(*) FILTER (query_id IN (SELECT t.text_id FROM text_ids AS t))
        + count(*) FILTER (doc_id IN (SELECT i.image_id FROM image_ids AS i)) AS as_texts,
        count(*) FILTER (query_id IN (SELECT i.image_id FROM image_ids AS i))
        + count(*) FILTER (doc_id IN (SELECT t.text_id FROM text_ids AS t)) AS as_images
    FROM judgements
    GROUP BY file
),

pairs AS (
    SELECT
        if(lists.as_images > lists.as_texts, doc_id, query_id) AS text_id,
        if(lists.as_images > lists.as_texts, query_id, doc_id) AS image_id,
        judgements.relevance,
        judgements.split,
        min(judgements.file) AS file,
        arg_min(judgements.row, (judgements.file, judgements.row)) AS row,
        bool_or(lists.has_grades) AS has_grades
    FROM judgements INNER JOIN lists ON judgements.file = lists.file
    GROUP BY ALL
),

names AS (
    SELECT image_id, min(name) AS name
    FROM image_ids
    WHERE image_id IN (SELECT p.image_id FROM pairs AS p)
    GROUP BY image_id
)

SELECT
    pairs.file,
    pairs.row,
    pairs.text_id,
    pairs.image_id,
    names.name,
    pairs.relevance,
    pairs.split,
    CASE
        WHEN pairs.text_id NOT IN (SELECT t.text_id FROM text_ids AS t) THEN 'unknown_text'
        WHEN names.name IS NULL THEN 'unknown_image'
        WHEN
            row_number() OVER (
                PARTITION BY pairs.text_id, pairs.image_id, pairs.split
                ORDER BY pairs.has_grades DESC, pairs.relevance DESC
            ) > 1 THEN 'judged_again'
    END AS reason
FROM pairs LEFT JOIN names ON pairs.image_id = names.image_id
ORDER BY pairs.file, pairs.row
