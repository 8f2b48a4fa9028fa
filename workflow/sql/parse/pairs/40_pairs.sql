SELECT
    file,
    row,
    nth,
    image AS image_url,
    NULL::VARCHAR AS image_id,
    text_id,
    text,
    title,
    section,
    page_url,
    language,
    split,
    CASE WHEN is_pair THEN coalesce(relevance, 1) END::INTEGER AS relevance,
    caption,
    caption_language,
    credit,
    width,
    height,
    number,
    image_own,
    text_own
FROM flawed
WHERE reason IS NULL
ORDER BY file, row, nth
