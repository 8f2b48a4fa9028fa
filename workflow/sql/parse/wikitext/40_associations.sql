-- WIT's columns, for every picture of a section.
SELECT
    sections.language,
    sections.page_url,
    placed.image_url,
    sections.page_title,
    if(sections.section = 0, '', sections.section_title) AS section_title,
    sections.hierarchy AS hierarchical_section_title,
    placed.caption AS caption_reference_description,
    placed.attribution AS caption_attribution_description,
    placed.alt AS caption_alt_text_description,
    placed.mime_type,
    NULL::INT AS original_height,
    NULL::INT AS original_width,
    placed.place = min(placed.place) OVER (PARTITION BY placed.page_id) AS is_main_image,
    NULL::BOOLEAN AS attribution_passes_lang_id,
    NULL::BOOLEAN AS page_changed_recently,
    sections.context_page_description,
    sections.context_section_description,
    splits.split,
    'wikitext' AS file,
    row_number() OVER (ORDER BY placed.page_id, placed.place, placed.project) AS row
FROM placed
INNER JOIN sections ON placed.text_id = sections.text_id
INNER JOIN splits ON placed.page_id = splits.page_id
ORDER BY row
