-- Page and section title match; the hierarchy, in WIT's form, decides where a page has two sections
-- of one title. A section without text is no text: what is about it has none, if it has no words of
-- its own, and is searched for otherwise.
WITH matched AS (
    SELECT
        queries.source_text_id,
        sections.text_id,
        sections.context_section_description <> '' AS is_text,
        coalesce(queries.context_section_description, '') <> '' AS has_words,
        count(*) OVER (PARTITION BY queries.source_text_id) AS matches,
        queries.hierarchy
        = wit_hierarchy(sections.section, sections.page_title, sections.hierarchy)
            AS same_hierarchy
    FROM queries
    INNER JOIN sections
        ON
            queries.page_title = sections.page_title
            AND queries.section_title = sections.section_title
)

SELECT
    source_text_id,
    any_value(text_id) FILTER (is_text) AS text_id
FROM matched
WHERE matches = 1 OR same_hierarchy
GROUP BY source_text_id
HAVING count(*) = 1 AND bool_or(is_text OR NOT has_words)
ORDER BY source_text_id
