-- The other sections of the same page; text ids and page ids rise together. Editions number their
-- pages each on their own.
WITH own AS (
    SELECT language FROM texts WHERE collection = $collection AND text_id = $id
)

SELECT
    text_id,
    section_title,
    split
FROM texts
WHERE
    collection = $collection AND page_id = $page AND text_id <> $id
    AND language IS NOT DISTINCT FROM (SELECT own.language FROM own)
ORDER BY text_id
