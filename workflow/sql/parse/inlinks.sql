-- How many articles link to each article; a link to a redirect is one to the redirect's target.
-- ASSUME one redirect is followed, as by MediaWiki, and an article of the same title takes
-- precedence over a redirect; no paper counts links.
WITH pages AS (
    SELECT DISTINCT page_id, page_title FROM sections WHERE section = 0
),

redirects AS (
    SELECT DISTINCT rejected.detail AS title, rejected.raw AS target
    FROM rejected ANTI JOIN pages ON rejected.detail = pages.page_title
    WHERE rejected.reason = 'redirect'
),

links_between AS (
    SELECT DISTINCT links.page_id AS origin, pages.page_id
    FROM links
    LEFT JOIN redirects ON links.target = redirects.title
    INNER JOIN pages ON coalesce(redirects.target, links.target) = pages.page_title
    WHERE links.page_id <> pages.page_id
),

counted AS (
    SELECT page_id, count(*) AS inlinks FROM links_between GROUP BY page_id
)

SELECT pages.page_id, any_value(coalesce(counted.inlinks, 0)) AS inlinks
FROM pages LEFT JOIN counted ON pages.page_id = counted.page_id
GROUP BY pages.page_id
ORDER BY pages.page_id
