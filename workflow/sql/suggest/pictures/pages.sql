-- How many pages show each file, infoboxes and galleries included.
WITH shown AS (
    SELECT DISTINCT
        file,
        wiki,
        page_id
    FROM placed
)

SELECT
    file,
    count(*)::INTEGER AS pages
FROM shown
GROUP BY file
ORDER BY file
