-- All sections of a page with a matched section. `is_text` tells those with text, which alone are
-- texts (AToMiC, Table 2: the context of a section is never empty). Filter (b): texts with the same
-- titles and descriptions share the first one's id, and what they were projected from.
WITH sources AS (
    SELECT
        text_id,
        min(source_text_id) AS source_text_id
    FROM projected
    WHERE text_id IS NOT NULL
    GROUP BY text_id
),

matched AS (
    SELECT DISTINCT sections.page_id
    FROM sections
    SEMI JOIN sources ON sections.text_id = sources.text_id
)

SELECT
    sections.*,
    sections.context_section_description <> '' AS is_text,
    min(sections.text_id) OVER same_words AS canonical_id,
    min(sources.source_text_id) OVER same_words AS source_text_id
FROM sections
SEMI JOIN matched ON sections.page_id = matched.page_id
LEFT JOIN sources ON sections.text_id = sources.text_id
WINDOW
    same_words AS (
        PARTITION BY
            sections.page_title,
            sections.section_title,
            sections.context_page_description,
            sections.context_section_description
    )
ORDER BY sections.text_id
