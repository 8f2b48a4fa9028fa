-- The licence that a collection states of each text.
SELECT
    text_id,
    coalesce(nullif(trim(licence), ''), 'unknown') AS licence
FROM texts
ORDER BY text_id
