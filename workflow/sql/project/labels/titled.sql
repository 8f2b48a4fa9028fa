-- A label finds the article of its title, in its own case before any other; then the article that
-- a redirect of its title leads to. Disambiguation pages are no articles.
WITH articles AS (
    SELECT text_id, page_title FROM sections WHERE section = 0
),

redirects AS (
    SELECT left_out.detail AS title, articles.text_id
    FROM left_out
    INNER JOIN articles ON left_out.raw = articles.page_title
    WHERE left_out.reason = 'redirect'
),

named AS (
    SELECT 1 AS place, 'title' AS method, page_title AS title, text_id FROM articles
    UNION ALL
    SELECT 2 AS place, 'redirect' AS method, title, text_id FROM redirects
),

found AS (
    SELECT
        asked.label, named.text_id, named.method,
        row_number() OVER (
            PARTITION BY asked.label
            ORDER BY named.place, asked.label <> named.title, named.text_id
        ) AS nth
    FROM asked
    INNER JOIN named ON lower(asked.label) = lower(named.title)
)

SELECT label, text_id, method FROM found WHERE nth = 1 ORDER BY label
