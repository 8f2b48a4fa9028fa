-- WIT's columns, in WIT's form, for every picture of a section.
SELECT
    sections.language,
    sections.page_url,
    addresses.image_url,
    sections.page_title,
    if(sections.section = 0, '', sections.section_title) AS section_title,
    wit_hierarchy(sections.section, sections.page_title, sections.hierarchy)
        AS hierarchical_section_title,
    addresses.caption AS caption_reference_description,
    addresses.attribution AS caption_attribution_description,
    addresses.alt AS caption_alt_text_description,
    addresses.mime_type,
    NULL::INT AS original_height,
    NULL::INT AS original_width,
    addresses.place = min(addresses.place) OVER (PARTITION BY addresses.page_id) AS is_main_image,
    NULL::BOOLEAN AS attribution_passes_lang_id,
    NULL::BOOLEAN AS page_changed_recently,
    wit_context(
        sections.section, sections.context_page_description, sections.context_section_description
    ) AS context_page_description,
    sections.context_section_description,
    splits.split,
    'wikitext' AS file,
    row_number() OVER (ORDER BY addresses.page_id, addresses.place, addresses.project) AS row
FROM addresses
INNER JOIN sections ON addresses.text_id = sections.text_id
INNER JOIN splits ON addresses.page_id = splits.page_id
ORDER BY row
