SELECT image_url
FROM canonical
GROUP BY image_url
HAVING min(split) <> max(split)
ORDER BY image_url
