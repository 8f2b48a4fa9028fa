-- The names that Wikidata has for the page of a section.
SELECT
    asked.text_id,
    list_distinct(flatten(list(entities.names ORDER BY entities.item ASC))) AS names
FROM asked
INNER JOIN titles ON asked.language = titles.language AND asked.page_id = titles.page_id
INNER JOIN entities ON titles.language = entities.language AND titles.link = entities.page_title
GROUP BY asked.text_id
ORDER BY asked.text_id
