-- All sections of a page, and all texts that may share an id by filter (b), have one title.
SELECT *
FROM all_sections
WHERE md5_number_lower(coalesce(page_title, '')) % $shards = $nth
ORDER BY text_id
