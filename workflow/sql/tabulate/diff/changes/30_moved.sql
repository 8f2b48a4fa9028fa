-- Of the other sections, those whose title each snapshot has once: moved in the page's outline.
WITH unmatched AS (
    SELECT * FROM sections
    WHERE
        (is_after AND text_id NOT IN (SELECT same.after_id FROM same))
        OR (NOT is_after AND text_id NOT IN (SELECT same.before_id FROM same))
)

SELECT
    any_value(text_id) FILTER (NOT is_after) AS before_id,
    any_value(text_id) FILTER (is_after) AS after_id,
    'moved' AS method
FROM unmatched
GROUP BY page_id, section_title
HAVING count(*) FILTER (is_after) = 1 AND count(*) FILTER (NOT is_after) = 1
ORDER BY before_id
