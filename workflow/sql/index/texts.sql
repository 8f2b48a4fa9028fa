-- `parts` are the fields of a text, in the order of `$fields`, and the headings of its hierarchy.
SELECT
    text_id AS id,
    split,
    list_filter(
        flatten(
            list_transform(
                $fields,
                LAMBDA f: CASE f
                    WHEN 'page_title' THEN [page_title]
                    WHEN 'section_title' THEN [section_title]
                    WHEN 'hierarchy' THEN string_split(hierarchy, ' / ')
                    WHEN 'context_section_description' THEN [context_section_description]
                    WHEN 'context_page_description' THEN [context_page_description]
                END
            )
        ),
        LAMBDA v: v <> ''
    ) AS parts,
    joined(parts) AS contents
FROM texts
ORDER BY text_id
