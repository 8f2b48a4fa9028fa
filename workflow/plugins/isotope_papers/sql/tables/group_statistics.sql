-- TICRC (2023), section VI-B: years, words and characters of the sets, and of two groups. The paper
-- says that its testing group holds the development set. Its years are those of the test sets
-- alone, and of a training group with the development set; so are the groups here. Words and
-- characters are counted as in caption_lengths.sql.
WITH captioned AS (
    SELECT
        split,
        source_split,
        len(context_section_description) AS characters,
        len(regexp_replace(context_section_description, '[^\pL\pN\s]', '', 'g')) AS plain,
        len(regexp_extract_all(context_section_description, '[^\pL\pN\s]*[\pL\pN]\S*')) AS words
    FROM texts
),

grouped_images AS (
    SELECT 0 AS place, split, source_split AS pictures_of, year(date) AS year FROM images
    UNION ALL
    SELECT
        1 AS place,
        CASE WHEN split = 'test' THEN 'test' ELSE 'train' END AS split,
        CASE WHEN split = 'test' THEN 'testing' ELSE 'training' END AS pictures_of,
        year(date) AS year
    FROM images
),

grouped_texts AS (
    SELECT 0 AS place, source_split AS pictures_of, words, characters, plain FROM captioned
    UNION ALL
    SELECT
        1 AS place,
        CASE WHEN split = 'test' THEN 'testing' ELSE 'training' END AS pictures_of,
        words, characters, plain
    FROM captioned
),

years AS (
    SELECT
        place, any_value(split) AS split, pictures_of, count(*) AS pictures,
        avg(year) AS year_mean, stddev_pop(year) AS year_sd, median(year) AS median_year,
        min(year) AS first_year, max(year) AS last_year
    FROM grouped_images
    GROUP BY place, pictures_of
),

lengths AS (
    SELECT
        place, pictures_of,
        avg(words) AS mean_words, median(words) AS median_words,
        avg(characters) AS mean_characters, median(characters) AS median_characters,
        avg(plain) AS mean_plain_characters, median(plain) AS median_plain_characters
    FROM grouped_texts
    GROUP BY place, pictures_of
)

SELECT
    years.pictures_of, years.pictures, years.year_mean, years.year_sd,
    printf('%.1f', years.median_year) AS median_year,
    years.first_year::VARCHAR AS first_year, years.last_year::VARCHAR AS last_year,
    lengths.mean_words, lengths.median_words, lengths.mean_characters, lengths.median_characters,
    lengths.mean_plain_characters, lengths.median_plain_characters
FROM years
LEFT JOIN lengths ON years.place = lengths.place AND years.pictures_of = lengths.pictures_of
ORDER BY
    years.place ASC, list_position(['train', 'validation', 'test'], years.split) ASC,
    years.pictures_of ASC
