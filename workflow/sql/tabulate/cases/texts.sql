-- A text that is a query, in full: the five fields that systems read.
SELECT
    text_id AS id, page_title, section_title, hierarchy,
    context_section_description, context_page_description
FROM texts
WHERE list_contains($ids, text_id)
ORDER BY text_id
