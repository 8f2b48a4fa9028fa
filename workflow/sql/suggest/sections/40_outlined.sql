-- Texts with their outline; a section's `listed` is the share of its lines that are list items or
-- table rows. A line of a text is a paragraph, a list item or a table row.
WITH lined AS (
    SELECT
        text_id, page_id, language, page_title, split,
        if(
            context_section_description = '', 0,
            len(string_split(context_section_description, chr(10)))
        )::INT AS lines
    FROM texts
)

SELECT
    lined.*, outline.* EXCLUDE (text_id, page_id, language),
    least(1, (outline.list_items + outline.table_rows) / greatest(1, lined.lines)) AS listed
FROM lined INNER JOIN outline ON lined.text_id = outline.text_id
ORDER BY lined.text_id
