-- A row a section: what the model sees, and whether the section has a picture.
WITH judged AS (
    SELECT DISTINCT text_id FROM qrels WHERE relevance > 0
)

SELECT
    outlined.text_id, outlined.page_id, outlined.language, outlined.split,
    CASE
        WHEN judged.text_id IS NOT NULL THEN 'judged'
        WHEN illustrated.text_id IS NOT NULL THEN 'illustrated'
        ELSE 'open'
    END AS role,
    paged.page_class, outlined.heading, outlined.place, outlined.sections, outlined.level,
    outlined.characters, outlined.list_items, outlined.table_rows, outlined."references",
    outlined.links, outlined.named_links, outlined.lines, outlined.has_infobox,
    paged.page_infobox, paged.page_characters, paged.page_lists, paged.page_digits,
    paged.page_split, paged.fold, paged.draw
FROM outlined
INNER JOIN paged ON outlined.language = paged.language AND outlined.page_id = paged.page_id
LEFT JOIN judged ON outlined.text_id = judged.text_id
LEFT JOIN illustrated ON outlined.text_id = illustrated.text_id
ORDER BY outlined.text_id
