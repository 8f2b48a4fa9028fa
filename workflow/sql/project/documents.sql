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
WHERE text_id >= $first_id AND ($limit_id IS NULL OR text_id < $limit_id)
ORDER BY text_id
