-- Rows of WIT that carry the same text share one source_text_id.
SELECT
    md5(concat_ws(
        chr(31),
        page_url,
        page_title,
        section_title,
        hierarchical_section_title,
        context_page_description,
        context_section_description
    )) AS source_text_id,
    file,
    row
FROM associations
WHERE is_spoken(language, $language)
ORDER BY file, row
