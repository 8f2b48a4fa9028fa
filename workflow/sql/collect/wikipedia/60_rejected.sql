-- Sections without text, which are no texts of the collection.
SELECT
    'sections' AS file,
    section::BIGINT AS row,
    'no_text' AS reason,
    text_id AS detail,
    wit_hierarchy(section, page_title, hierarchy) AS raw
FROM pages
WHERE NOT is_text
ORDER BY text_id
