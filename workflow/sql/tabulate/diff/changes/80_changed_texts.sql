-- What became of each text, which is named from the page's title on.
WITH before_named AS (
    SELECT *, concat_ws(' / ', page_title, hierarchy) AS path FROM before_texts
),

after_named AS (
    SELECT *, concat_ws(' / ', page_title, hierarchy) AS path FROM after_texts
),

paired AS (
    SELECT
        b.text_id AS before_id, a.text_id AS after_id,
        coalesce(a.page_id, b.page_id) AS page_id, identities.method,
        a.context_section_description <> b.context_section_description AS is_edited,
        concat_ws(' → ', b.path, nullif(a.path, b.path)) AS detail
    FROM before_named AS b
    LEFT JOIN identities ON b.text_id = identities.before_id
    FULL JOIN after_named AS a ON identities.after_id = a.text_id
)

SELECT
    'text' AS kind, paired.before_id, paired.after_id, pages.page_class,
    CASE
        WHEN paired.before_id IS NULL THEN 'added'
        WHEN paired.after_id IS NULL THEN 'removed'
        WHEN paired.method <> 'same' THEN paired.method
        WHEN paired.is_edited THEN 'edited'
        ELSE 'unchanged'
    END AS change,
    paired.detail
FROM paired INNER JOIN pages ON paired.page_id = pages.page_id
ORDER BY coalesce(paired.after_id, paired.before_id), paired.before_id
