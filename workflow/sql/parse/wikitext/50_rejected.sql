-- Files that articles show and that are no pictures of sections, in the order of pages.
SELECT
    'wikitext' AS file,
    row_number() OVER (ORDER BY uses.page_id, uses.place) AS row,
    uses.reason,
    uses.file AS detail,
    wit_hierarchy(sections.section, sections.page_title, sections.hierarchy) AS raw
FROM uses INNER JOIN sections ON uses.text_id = sections.text_id
WHERE uses.reason IS NOT NULL
ORDER BY row
