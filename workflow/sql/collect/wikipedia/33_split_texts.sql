SELECT text_id
FROM canonical
GROUP BY text_id
HAVING min(split) <> max(split)
ORDER BY text_id
