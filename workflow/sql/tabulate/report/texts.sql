-- What the report shows of some texts.
SELECT
    text_id AS id,
    concat_ws(' › ', page_title, section_title) AS title,
    coalesce(context_section_description, context_page_description, '') AS words,
    coalesce(page_url, '') AS url
FROM texts
WHERE list_contains($ids, text_id)
ORDER BY text_id
