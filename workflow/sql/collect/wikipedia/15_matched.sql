-- All sections of a page with a matched section; `is_text` tells those with text, which alone are
-- texts (AToMiC, Table 2: the context of a section is never empty).
WITH matched AS (
    SELECT DISTINCT sections.page_id
    FROM projected
    INNER JOIN sections ON projected.text_id = sections.text_id
)

SELECT sections.*, sections.context_section_description <> '' AS is_text
FROM sections
SEMI JOIN matched ON sections.page_id = matched.page_id
ORDER BY sections.text_id
