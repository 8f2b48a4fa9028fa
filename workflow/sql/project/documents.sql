-- The five fields of every section, in WIT's form, as the texts that ask for them are: the
-- hierarchy begins with the title of the page, and a lead has its text as the context of the page,
-- too. A section without text of its own is no text (AToMiC, Table 2: the context of a section is
-- never empty).
SELECT
    text_id AS id,
    joined([
        page_title,
        section_title,
        steps(wit_hierarchy(section, page_title, hierarchy)),
        context_section_description,
        wit_context(section, context_page_description, context_section_description)
    ]) AS contents
FROM sections
WHERE
    text_id >= $first_id AND ($limit_id IS NULL OR text_id < $limit_id)
    AND context_section_description <> ''
ORDER BY text_id
