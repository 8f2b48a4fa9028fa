-- A template of a snapshot by its name; of several wikis that have one, where it is used most.
SELECT * EXCLUDE (pictures)
FROM templates
WHERE lower(template) = lower($id)
ORDER BY uses DESC, source ASC, wiki ASC
