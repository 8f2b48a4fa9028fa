-- All sections of a page with a matched section are texts; texts with the same words share the
-- first one's id.
WITH matched AS (
    SELECT DISTINCT sections.page_id
    FROM projected
    INNER JOIN sections ON projected.text_id = sections.text_id
)

SELECT
    sections.*,
    min(sections.text_id) OVER (
        PARTITION BY
            sections.page_title,
            sections.section_title,
            sections.context_page_description,
            sections.context_section_description
    ) AS canonical_id
FROM sections
SEMI JOIN matched ON sections.page_id = matched.page_id
ORDER BY sections.text_id
