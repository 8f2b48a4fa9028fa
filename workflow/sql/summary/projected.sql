-- How many texts of each source are in the dump, and why the others are not.
SELECT
    source AS name,
    'texts' AS things,
    '' AS split,
    CASE
        WHEN method = 'no_text' THEN 'section without text'
        WHEN text_id IS NULL THEN 'no section found'
    END AS reason,
    count(*) AS n
FROM projection
GROUP BY name, reason
