-- The five fields of every section; one without text of its own is no text (AToMiC, Table 2: the
-- context of a section is never empty).
SELECT
    text_id AS id,
    joined([
        page_title, section_title, steps(hierarchy), context_section_description,
        context_page_description
    ]) AS contents
FROM sections
WHERE
    text_id >= $first_id AND ($limit_id IS NULL OR text_id < $limit_id)
    AND context_section_description <> ''
ORDER BY text_id
