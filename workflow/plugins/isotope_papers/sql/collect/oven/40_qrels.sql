-- Spaces in ids are replaced: TREC's formats separate columns by them.
SELECT regexp_replace(entity_id, '\s', '_', 'g') AS text_id, image_id, 1 AS relevance, split
FROM paired
WHERE entity_id IS NOT NULL
ORDER BY text_id ASC, image_id ASC
