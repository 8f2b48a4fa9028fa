SELECT
    text_id AS id,
    split,
    joined(list_transform(
        $fields,
        LAMBDA f: CASE f
            WHEN 'page_title' THEN page_title
            WHEN 'section_title' THEN section_title
            WHEN 'hierarchy' THEN steps(hierarchy)
            WHEN 'context_section_description' THEN context_section_description
            WHEN 'context_page_description' THEN context_page_description
        END
    )) AS contents
FROM texts
ORDER BY text_id
