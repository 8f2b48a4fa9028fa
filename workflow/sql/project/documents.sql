SELECT
    text_id AS id,
    concat_ws(
        ' ',
        nullif(page_title, ''),
        nullif(section_title, ''),
        nullif(hierarchy, ''),
        nullif(context_section_description, ''),
        nullif(context_page_description, '')
    ) AS contents
FROM sections
ORDER BY text_id
