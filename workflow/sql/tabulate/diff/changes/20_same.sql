-- A path that the page has once in each snapshot: the same section.
SELECT
    any_value(text_id) FILTER (NOT is_after) AS before_id,
    any_value(text_id) FILTER (is_after) AS after_id,
    'same' AS method
FROM sections
GROUP BY page_id, path
HAVING count(*) FILTER (is_after) = 1 AND count(*) FILTER (NOT is_after) = 1
ORDER BY before_id
