-- The captions of the collection's language; equal captions by two people stay two.
SELECT
    printf(
        '%s-%s-%d',
        entries.image_key,
        entries.language,
        row_number() OVER (
            PARTITION BY entries.image_key ORDER BY entries.file, entries.row, entries.place
        )
    ) AS text_id,
    NULL::BIGINT AS page_id,
    NULL::BIGINT AS revision_id,
    NULL::VARCHAR AS page_url,
    NULL::VARCHAR AS page_title,
    NULL::VARCHAR AS section_title,
    NULL::VARCHAR AS hierarchy,
    NULL::VARCHAR AS context_page_description,
    entries.caption AS context_section_description,
    entries.language,
    []::VARCHAR[] AS category,
    'test' AS split,
    entries.image_key AS source_text_id,
    entries.translation,
    entries.synsets
FROM entries
INNER JOIN pictures ON entries.image_key = pictures.image_key
WHERE is_spoken(entries.language, $language) AND NOT entries.wordless AND pictures.reason IS NULL
ORDER BY text_id
