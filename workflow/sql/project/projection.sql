SELECT
    queries.source_text_id,
    coalesce(exact.text_id, ranked.doc_id) AS text_id,
    CASE
        WHEN exact.text_id IS NOT NULL THEN 'exact'
        WHEN exact.source_text_id IS NOT NULL THEN 'no_text'
        WHEN ranked.doc_id IS NOT NULL THEN 'bm25'
        ELSE 'none'
    END AS method,
    CASE WHEN exact.source_text_id IS NULL THEN ranked.score END AS score
FROM queries
LEFT JOIN exact ON queries.source_text_id = exact.source_text_id
LEFT JOIN ranked ON queries.source_text_id = ranked.query_id
ORDER BY queries.source_text_id
