-- A text is in the shard of its section; one without a section is in some shard, so that it is
-- counted once.
SELECT p.*
FROM all_projection AS p
SEMI JOIN sections ON p.text_id = sections.text_id
UNION ALL
SELECT p.*
FROM all_projection AS p
ANTI JOIN all_sections ON p.text_id = all_sections.text_id
WHERE md5_number_lower(coalesce(p.text_id, p.source_text_id)) % $shards = $nth
ORDER BY source_text_id
