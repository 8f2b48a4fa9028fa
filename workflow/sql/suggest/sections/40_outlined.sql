-- Texts with their outline. A line of a text is a paragraph, a list item or a table row; `listed`
-- is the share of the lines that are not paragraphs. `named_links` are those whose page the text
-- names: those of captions, which only sections with pictures have, are not among them.
SELECT
    texts.text_id, texts.page_id, texts.language, texts.page_title, texts.split,
    outline.* EXCLUDE (text_id, page_id, language, links),
    coalesce(len(outline.links), 0)::INT AS links,
    if(
        texts.context_section_description = '', 0,
        len(string_split(texts.context_section_description, chr(10)))
    )::INT AS lines,
    coalesce(
        len(
            list_filter(
                outline.links,
                LAMBDA title: contains(lower(texts.context_section_description), lower(title))
            )
        ), 0
    )::INT AS named_links,
    least(1, (outline.list_items + outline.table_rows) / greatest(1, lines)) AS listed
FROM texts INNER JOIN outline ON texts.text_id = outline.text_id
ORDER BY texts.text_id
