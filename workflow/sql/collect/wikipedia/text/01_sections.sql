-- Sharded by page title, which all sections of a page and all texts that filter (b) merges share.
SELECT *
FROM all_sections
WHERE md5_number_lower(coalesce(page_title, '')) % $shards = $nth
ORDER BY text_id
