-- The pictures that a template shows: the parameters that name each, its caption and its
-- alternative text, those first that win.
SELECT unnest(pictures, recursive := TRUE)
FROM templates
WHERE lower(template) = lower($id) AND source = $source AND wiki = $wiki
