-- On how many pages two headings stand beside each other, and on how many they share a picture.
WITH by_page AS (
    SELECT
        language,
        other,
        own_words,
        words,
        page_id,
        bool_or(is_same) AS is_same
    FROM evidence
    WHERE teaches
    GROUP BY language, other, own_words, words, page_id
)

SELECT
    language,
    other,
    own_words,
    words,
    count(*) AS pages,
    count(*) FILTER (WHERE is_same) AS same
FROM by_page
GROUP BY language, other, own_words, words
ORDER BY language, other, own_words, words
