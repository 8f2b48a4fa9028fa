-- Redirects to a template, the most used first.
SELECT
    template,
    uses
FROM templates
WHERE lower(redirect_to) = lower($id) AND source = $source AND wiki = $wiki
ORDER BY uses DESC, template ASC
LIMIT $most
