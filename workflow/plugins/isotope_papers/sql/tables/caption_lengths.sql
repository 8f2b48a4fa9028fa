-- TICRC (2023), section VI-B and Figs. 6 and 7: words and characters of a caption, by split. A word
-- is what stands between white space and has a letter or a digit: so the paper's means come out. A
-- line end is one character; `plain` characters are letters, digits and white space.
WITH counted AS (
    SELECT
        split,
        len(context_section_description) AS characters,
        len(regexp_replace(context_section_description, '[^\pL\pN\s]', '', 'g')) AS plain,
        len(regexp_extract_all(context_section_description, '[^\pL\pN\s]*[\pL\pN]\S*')) AS words
    FROM texts
)

SELECT
    split, count(*) AS captions,
    avg(words) AS words_mean, stddev_pop(words) AS words_sd,
    min(words) AS fewest_words, median(words) AS median_words, max(words) AS most_words,
    avg(characters) AS characters_mean, stddev_pop(characters) AS characters_sd,
    min(characters) AS fewest_characters, median(characters) AS median_characters,
    max(characters) AS most_characters,
    avg(plain) AS mean_plain_characters, median(plain) AS median_plain_characters
FROM counted
GROUP BY split
ORDER BY list_position(['train', 'validation', 'test'], split)
