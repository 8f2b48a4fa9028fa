-- Texts of the published tables, texts that only a track's topics have, in the same columns, and
-- texts that only words describe. Those of an earlier release get the published form: a hierarchy
-- without the page's title, a lead without the page's context, no section without text. A text
-- without a word in any field is none, nor is a topic.
WITH topic_words AS (
    SELECT id, arg_min(words, (file, row)) AS words
    FROM topics
    WHERE side = 'text' AND id IS NOT NULL AND trim(words) <> ''
    GROUP BY id
),

formed AS (
    SELECT
        p.text_id,
        p.page_url,
        p.page_title,
        p.section_title,
        CASE
            WHEN NOT released.is_earlier THEN p.hierachy
            WHEN len(p.hierachy) = 1 THEN [p.section_title]
            ELSE p.hierachy[2:]
        END AS headings,
        if(
            released.is_earlier AND len(p.hierachy) = 1, '', p.context_page_description
        ) AS context_page_description,
        p.context_section_description,
        list_filter(p.category, LAMBDA c: c IS NOT NULL) AS category,
        p.source_id,
        if(released.is_earlier, [], list_filter(p.media, LAMBDA f: f IS NOT NULL)) AS media
    FROM published_texts AS p CROSS JOIN released
    WHERE NOT (released.is_earlier AND coalesce(p.context_section_description, '') = '')
)

SELECT
    text_id,
    page_url,
    page_title,
    section_title,
    array_to_string(headings, ' / ') AS hierarchy,
    context_page_description,
    context_section_description,
    category,
    source_id,
    media
FROM formed
WHERE
    joined([
        page_title, section_title, array_to_string(headings, ' '), context_page_description,
        context_section_description
    ]) <> ''
UNION ALL
SELECT
    id AS text_id,
    '' AS page_url,
    '' AS page_title,
    '' AS section_title,
    '' AS hierarchy,
    '' AS context_page_description,
    words AS context_section_description,
    []::VARCHAR[] AS category,
    NULL AS source_id,
    []::VARCHAR[] AS media
FROM topic_words
WHERE
    id NOT IN (SELECT published_texts.text_id FROM published_texts)
    AND id NOT IN (SELECT asked_texts.text_id FROM asked_texts)
UNION ALL
SELECT
    any_value(text_id) AS text_id,
    arg_min(page_url, (file, row)) AS page_url,
    arg_min(page_title, (file, row)) AS page_title,
    arg_min(section_title, (file, row)) AS section_title,
    array_to_string(arg_min(hierachy, (file, row)), ' / ') AS hierarchy,
    arg_min(context_page_description, (file, row)) AS context_page_description,
    arg_min(context_section_description, (file, row)) AS context_section_description,
    list_filter(arg_min(category, (file, row)), LAMBDA c: c IS NOT NULL) AS category,
    arg_min(source_id, (file, row)) AS source_id,
    list_filter(arg_min(media, (file, row)), LAMBDA f: f IS NOT NULL) AS media
FROM asked_texts
WHERE
    text_id NOT IN (SELECT published_texts.text_id FROM published_texts)
    AND concat(
        page_title, section_title, context_page_description, context_section_description
    ) <> ''
GROUP BY asked_texts.text_id
ORDER BY text_id
