-- Editions number their pages each from 1: a text's language tells ids apart, and is stable.
SELECT * REPLACE (language || '-' || text_id AS text_id)
FROM texts
ORDER BY text_id
