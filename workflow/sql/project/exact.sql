-- Page and section title match; the hierarchy decides where a page has two sections of one title.
WITH matched AS (
    SELECT
        queries.source_text_id,
        sections.text_id,
        count(*) OVER (PARTITION BY queries.source_text_id) AS matches,
        queries.hierarchy = sections.hierarchy AS same_hierarchy
    FROM queries
    INNER JOIN sections
        ON
            queries.page_title = sections.page_title
            AND queries.section_title = sections.section_title
)

SELECT
    source_text_id,
    min(text_id) AS text_id
FROM matched
WHERE matches = 1 OR same_hierarchy
GROUP BY source_text_id
HAVING count(*) = 1
ORDER BY source_text_id
