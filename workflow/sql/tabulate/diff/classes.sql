-- How many pages are new, gone, renamed, edited and untouched.
WITH ids AS (
    SELECT text_id, page_id FROM before_texts
    UNION
    SELECT text_id, page_id FROM after_texts
)

SELECT changes.page_class, count(DISTINCT ids.page_id) AS pages
FROM changes
INNER JOIN ids ON coalesce(changes.after_id, changes.before_id) = ids.text_id
WHERE changes.kind = 'text'
GROUP BY changes.page_class
ORDER BY changes.page_class
