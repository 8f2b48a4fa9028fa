-- A text of which all five fields are empty answers nothing, and asks nothing.
SELECT text_id
FROM texts
WHERE
    joined([
        page_title, section_title, hierarchy, context_section_description,
        context_page_description
    ]) = ''
