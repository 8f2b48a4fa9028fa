-- Texts with the same words share the first one's id.
SELECT
    * EXCLUDE (is_text),
    min(text_id) OVER (
        PARTITION BY
            page_title,
            section_title,
            context_page_description,
            context_section_description
    ) AS canonical_id
FROM matched
WHERE is_text
ORDER BY text_id
