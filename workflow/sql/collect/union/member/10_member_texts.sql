-- Every edition numbers its pages from 1, so the language makes ids unique; it never changes.
SELECT * REPLACE (language || '-' || text_id AS text_id)
FROM texts
ORDER BY text_id
