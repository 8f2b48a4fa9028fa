-- The queries of a qrels file may be texts or images; what more of its rows match decides.
WITH sides AS (
    SELECT
        file,
        count(*) FILTER (query_id IN (SELECT text_id FROM known_texts))
        + count(*) FILTER (doc_id IN (SELECT image_id FROM known_images)) AS as_texts,
        count(*) FILTER (query_id IN (SELECT image_id FROM known_images))
        + count(*) FILTER (doc_id IN (SELECT text_id FROM known_texts)) AS as_images
    FROM judgements
    GROUP BY file
),

pairs AS (
    SELECT
        judgements.file,
        judgements.row,
        if(sides.as_images > sides.as_texts, judgements.doc_id, judgements.query_id) AS text_id,
        if(sides.as_images > sides.as_texts, judgements.query_id, judgements.doc_id) AS image_id,
        judgements.relevance,
        judgements.split
    FROM judgements
    INNER JOIN sides ON judgements.file = sides.file
)

SELECT
    text_id,
    image_id,
    relevance,
    split,
    min(file) AS file,
    arg_min(row, file) AS row
FROM pairs
GROUP BY text_id, image_id, relevance, split
ORDER BY text_id, image_id, relevance, split
