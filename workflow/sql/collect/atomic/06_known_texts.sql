-- Texts of the published tables, and texts that only a topic describes.
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
WHERE id NOT IN (SELECT published_texts.text_id FROM published_texts)
ORDER BY text_id
