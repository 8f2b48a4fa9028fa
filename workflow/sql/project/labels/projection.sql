SELECT
    names.label AS source_text_id,
    coalesce(titled.text_id, ranked.doc_id) AS text_id,
    coalesce(titled.method, CASE WHEN ranked.doc_id IS NULL THEN 'none' ELSE 'bm25' END) AS method,
    CASE WHEN titled.text_id IS NULL THEN ranked.score END AS score
FROM names
LEFT JOIN titled ON names.label = titled.label
LEFT JOIN ranked ON names.label = ranked.query_id
ORDER BY source_text_id
