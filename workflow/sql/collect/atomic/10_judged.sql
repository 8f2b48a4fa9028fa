-- Qrels of either direction: the queries of a file are what more of its rows know as such.
WITH sided AS (
    SELECT
        file,
        count(*) FILTER (query_id IN (SELECT text_id FROM known_texts))
        + count(*) FILTER (doc_id IN (SELECT image_id FROM known_images)) AS as_texts,
        count(*) FILTER (query_id IN (SELECT image_id FROM known_images))
        + count(*) FILTER (doc_id IN (SELECT text_id FROM known_texts)) AS as_images
    FROM judgements
    GROUP BY file
),

turned AS (
    SELECT
        judgements.file,
        judgements.row,
        if(sided.as_images > sided.as_texts, judgements.doc_id, judgements.query_id) AS text_id,
        if(sided.as_images > sided.as_texts, judgements.query_id, judgements.doc_id) AS image_id,
        judgements.relevance,
        judgements.split
    FROM judgements
    INNER JOIN sided ON judgements.file = sided.file
)

SELECT
    text_id,
    image_id,
    relevance,
    split,
    min(file) AS file,
    arg_min(row, file) AS row
FROM turned
GROUP BY text_id, image_id, relevance, split
ORDER BY text_id, image_id, relevance, split
