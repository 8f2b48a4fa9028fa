-- The sections of pages that both snapshots have, each with its path below the page, none for a
-- lead, and its words.
WITH all_texts AS (
    SELECT *, FALSE AS is_after FROM before_texts
    UNION ALL
    SELECT *, TRUE AS is_after FROM after_texts
)

SELECT
    is_after,
    page_id,
    text_id,
    section_title,
    if(text_id LIKE '%-000', '', hierarchy) AS path,
    list_distinct(regexp_extract_all(lower(context_section_description), '\w+')) AS words,
    row_number() OVER (PARTITION BY is_after, page_id ORDER BY text_id) AS place
FROM all_texts
WHERE
    page_id IN (SELECT b.page_id FROM before_texts AS b)
    AND page_id IN (SELECT a.page_id FROM after_texts AS a)
ORDER BY is_after, text_id
