SELECT
    pages.canonical_id,
    min(projected.source_text_id) AS source_text_id
FROM projected
INNER JOIN pages ON projected.text_id = pages.text_id
GROUP BY pages.canonical_id
ORDER BY pages.canonical_id
