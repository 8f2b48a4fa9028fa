SELECT
    a.image_url,
    a.language,
    a.caption_reference_description,
    a.caption_alt_text_description,
    a.caption_attribution_description,
    a.mime_type,
    a.file,
    a.row
FROM all_associations AS a
SEMI JOIN urls ON a.image_url = urls.image_url
ORDER BY a.file, a.row
