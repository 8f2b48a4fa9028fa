-- The sections of the collection's pages that are no texts, in the order of their ids.
SELECT *
FROM without_text
ORDER BY detail
