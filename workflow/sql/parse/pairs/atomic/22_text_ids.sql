-- Texts: a published one has a word in some field. Of an earlier release a section without text is
-- none.
SELECT text_id
FROM published_texts CROSS JOIN released
WHERE
    NOT (released.is_earlier AND coalesce(context_section_description, '') = '')
    AND (
        coalesce(regexp_matches(page_title, '[^\s\pZ]'), FALSE)
        OR coalesce(regexp_matches(section_title, '[^\s\pZ]'), FALSE)
        OR coalesce(regexp_matches(array_to_string(hierachy, ' '), '[^\s\pZ]'), FALSE)
        OR coalesce(regexp_matches(context_section_description, '[^\s\pZ]'), FALSE)
        OR coalesce(regexp_matches(context_page_description, '[^\s\pZ]'), FALSE)
    )
UNION ALL
SELECT text_id FROM further_texts
