-- Texts that the published tables lack, in their columns: those that only a track's topics have,
-- and those that only words describe. A topic without a word in any field is none.
WITH topic_words AS (
    SELECT id, arg_min(words, (file, row)) AS words
    FROM topics
    WHERE side = 'text' AND id IS NOT NULL AND trim(words) <> ''
    GROUP BY id
)

SELECT
    text_id,
    page_url,
    page_title,
    section_title,
    hierachy,
    context_page_description,
    context_section_description,
    category,
    source_id,
    media
FROM asked_texts
WHERE
    text_id NOT IN (SELECT p.text_id FROM published_texts AS p)
    AND concat(
        page_title, section_title, context_page_description, context_section_description
    ) <> ''
QUALIFY row_number() OVER (PARTITION BY text_id ORDER BY file, row) = 1
UNION ALL
SELECT
    id AS text_id,
    '' AS page_url,
    '' AS page_title,
    '' AS section_title,
    [] AS hierachy,
    '' AS context_page_description,
    words AS context_section_description,
    [] AS category,
    NULL AS source_id,
    [] AS media
FROM topic_words
WHERE
    id NOT IN (SELECT p.text_id FROM published_texts AS p)
    AND id NOT IN (SELECT a.text_id FROM asked_texts AS a)
ORDER BY text_id
