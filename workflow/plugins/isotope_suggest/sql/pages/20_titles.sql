-- The page that a title leads to: its own, or that of a redirect of this title. Of two pages of one
-- title the first counts.
WITH redirected AS (
    SELECT
        redirects.language,
        redirects.title AS link,
        pages.page_id,
        pages.title
    FROM redirects
    INNER JOIN pages ON redirects.language = pages.language AND redirects.target = pages.title
    ANTI JOIN pages AS own ON redirects.language = own.language AND redirects.title = own.title
),

both_kinds AS (
    SELECT
        language,
        title AS link,
        page_id,
        title
    FROM pages
    UNION
    SELECT
        language,
        link,
        page_id,
        title
    FROM redirected
)

SELECT *
FROM both_kinds
QUALIFY row_number() OVER (PARTITION BY language, link ORDER BY page_id) = 1
ORDER BY language, link
