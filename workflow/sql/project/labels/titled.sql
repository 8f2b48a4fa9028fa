-- A label's article has it as title, in its own case before any other, or else as the title of a
-- redirect to the article. Disambiguation pages are no articles.
WITH articles AS (
    SELECT text_id, page_title FROM sections WHERE section = 0
),

redirects AS (
    SELECT left_out.detail AS title, articles.text_id
    FROM left_out
    INNER JOIN articles ON left_out.raw = articles.page_title
    WHERE left_out.reason = 'redirect'
),

titles AS (
    SELECT 1 AS place, 'title' AS method, page_title AS title, text_id FROM articles
    UNION ALL
    SELECT 2 AS place, 'redirect' AS method, title, text_id FROM redirects
),

ranked AS (
    SELECT
        names.label, titles.text_id, titles.method,
        row_number() OVER (
            PARTITION BY names.label
            ORDER BY titles.place, names.label <> titles.title, titles.text_id
        ) AS nth
    FROM names
    INNER JOIN titles ON lower(names.label) = lower(titles.title)
)

SELECT label, text_id, method FROM ranked WHERE nth = 1 ORDER BY label
