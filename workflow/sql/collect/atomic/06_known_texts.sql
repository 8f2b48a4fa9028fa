-- Texts of the published tables, texts that only a track's topics have, in the same columns, and
-- texts that only words describe. A topic without words is no text.
WITH topic_words AS (
    SELECT id, arg_min(words, (file, row)) AS words
    FROM topics
    WHERE side = 'text' AND id IS NOT NULL AND words IS NOT NULL
    GROUP BY id
)

SELECT
    text_id,
    page_url,
    page_title,
    section_title,
    array_to_string(hierachy, ' / ') AS hierarchy,
    context_page_description,
    context_section_description,
    list_filter(category, LAMBDA c: c IS NOT NULL) AS category,
    source_id
FROM published_texts
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
    NULL AS source_id
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
    arg_min(source_id, (file, row)) AS source_id
FROM asked_texts
WHERE
    text_id NOT IN (SELECT published_texts.text_id FROM published_texts)
    AND concat(
        page_title, section_title, context_page_description, context_section_description
    ) <> ''
GROUP BY asked_texts.text_id
ORDER BY text_id
