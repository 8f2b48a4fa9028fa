-- The words of a release's texts: the title of the page, and all other fields in one string.
SELECT
    text_id AS id,
    coalesce(page_title, '') AS title,
    joined([
        section_title, array_to_string(hierachy, ' '),
        context_section_description, context_page_description
    ]) AS text,
    coalesce(page_url, '') AS url
FROM texts
ORDER BY text_id
