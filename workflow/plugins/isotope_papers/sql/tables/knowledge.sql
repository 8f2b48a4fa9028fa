-- OVEN (ICCV 2023), Fig. 3 (right), last row: entities of the knowledge base, those with an infobox
-- picture, and the words of a title.
-- ASSUME words between white space; the paper says AvgLen(title) without its unit.
SELECT
    count(*) AS entities, count(picture_id) AS pictures, count(page_title) AS titles,
    avg(len(regexp_extract_all(page_title, '\S+'))) AS title_words_mean,
    stddev_pop(len(regexp_extract_all(page_title, '\S+'))) AS title_words_sd
FROM texts
