-- Of the other sections, pairs that share at least half of their words, and more than with any
-- other one.
WITH matched AS (
    SELECT * FROM same
    UNION ALL
    SELECT * FROM moved
),

unmatched AS (
    SELECT * FROM sections
    WHERE
        len(words) > 4 AND (
            (is_after AND text_id NOT IN (SELECT matched.after_id FROM matched))
            OR (NOT is_after AND text_id NOT IN (SELECT matched.before_id FROM matched))
        )
),

compared AS (
    SELECT
        b.text_id AS before_id,
        a.text_id AS after_id,
        len(list_intersect(b.words, a.words)) AS common,
        common / (len(b.words) + len(a.words) - common) AS alike
    FROM unmatched AS b
    INNER JOIN unmatched AS a ON b.page_id = a.page_id AND a.is_after AND NOT b.is_after
)

SELECT before_id, after_id, 'renamed' AS method
FROM compared
WHERE alike >= 0.5
QUALIFY
    row_number() OVER (PARTITION BY before_id ORDER BY alike DESC, after_id ASC) = 1
    AND row_number() OVER (PARTITION BY after_id ORDER BY alike DESC, before_id ASC) = 1
ORDER BY before_id
