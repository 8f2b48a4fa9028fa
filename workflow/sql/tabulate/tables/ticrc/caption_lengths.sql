-- Words (between white space) and characters (line ends included) of a caption, by split.
WITH counted AS (
    SELECT
        split,
        len(context_section_description) AS characters,
        len(regexp_extract_all(context_section_description, '\S+')) AS words
    FROM texts
)

SELECT
    split, count(*) AS captions,
    avg(words) AS words_mean, stddev_pop(words) AS words_sd,
    min(words) AS fewest_words, median(words) AS median_words, max(words) AS most_words,
    avg(characters) AS characters_mean, stddev_pop(characters) AS characters_sd,
    min(characters) AS fewest_characters, median(characters) AS median_characters,
    max(characters) AS most_characters
FROM counted
GROUP BY split
ORDER BY list_position(['train', 'validation', 'test'], split)
