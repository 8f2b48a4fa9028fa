-- How many texts of each source have a section in the dump.
SELECT
    source AS name,
    'texts' AS things,
    '' AS split,
    CASE WHEN text_id IS NULL THEN 'no section found' END AS reason,
    count(*) AS n
FROM projection
GROUP BY source, text_id IS NULL
