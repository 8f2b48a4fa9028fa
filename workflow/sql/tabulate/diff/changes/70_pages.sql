-- What became of each page as a whole.
WITH before_pages AS (
    SELECT
        page_id, any_value(page_title) AS page_title,
        list((hierarchy, context_section_description) ORDER BY text_id) AS words
    FROM before_texts GROUP BY page_id
),

after_pages AS (
    SELECT
        page_id, any_value(page_title) AS page_title,
        list((hierarchy, context_section_description) ORDER BY text_id) AS words
    FROM after_texts GROUP BY page_id
)

SELECT
    coalesce(a.page_id, b.page_id) AS page_id,
    coalesce(a.page_title, b.page_title) AS page_title,
    CASE
        WHEN b.page_id IS NULL THEN 'new'
        WHEN a.page_id IS NULL THEN 'gone'
        WHEN a.page_title <> b.page_title THEN 'renamed'
        WHEN a.words <> b.words THEN 'edited'
        ELSE 'untouched'
    END AS page_class
FROM before_pages AS b
FULL JOIN after_pages AS a ON b.page_id = a.page_id
ORDER BY page_id
