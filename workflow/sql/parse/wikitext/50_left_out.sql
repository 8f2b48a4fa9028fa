-- What articles show that is no picture of a section, in the order of pages.
SELECT
    'wikitext' AS file,
    row_number() OVER (ORDER BY shown.page_id, shown.place) AS row,
    shown.reason,
    shown.file AS detail,
    sections.hierarchy AS raw
FROM shown INNER JOIN sections ON shown.text_id = sections.text_id
WHERE shown.reason IS NOT NULL
ORDER BY row
