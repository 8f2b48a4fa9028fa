WITH first_rows AS (
    SELECT
        source_text_id,
        arg_min({ 'file': file, 'row': row }, (file, row)) AS place
    FROM members
    GROUP BY source_text_id
)

SELECT
    first_rows.source_text_id,
    a.page_title,
    coalesce(nullif(a.section_title, ''), $lead) AS section_title,
    a.hierarchical_section_title AS hierarchy,
    a.context_section_description,
    a.context_page_description
FROM first_rows
INNER JOIN associations AS a
    ON first_rows.place.file = a.file AND first_rows.place.row = a.row
ORDER BY first_rows.source_text_id
