-- The published columns of AToMiC's texts, their spelling of "hierachy" included. Those that
-- several splits judge are in the file `other`.
SELECT
    texts.text_id,
    texts.page_url,
    texts.page_title,
    texts.section_title,
    texts.context_page_description,
    texts.context_section_description,
    coalesce(linked.media, []) AS media,
    string_split(texts.hierarchy, ' / ') AS hierachy,
    texts.category,
    texts.source_text_id AS source_id
FROM texts
LEFT JOIN linked ON texts.text_id = linked.text_id
WHERE if(contains(texts.split, '+'), 'other', texts.split) = $split
ORDER BY texts.text_id
