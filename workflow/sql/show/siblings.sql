-- The other sections of the same page; text ids and page ids rise together.
SELECT
    text_id,
    section_title,
    split
FROM texts
WHERE collection = $collection AND page_id = $page AND text_id <> $id
ORDER BY text_id
