-- How many pages show each file, infoboxes and galleries included.
SELECT file, count(DISTINCT (coalesce(wiki, ''), page_id))::INTEGER AS pages
FROM placed
GROUP BY file
ORDER BY file
