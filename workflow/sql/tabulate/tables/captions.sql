-- Crossmodal-3600 (EMNLP 2022), the table of languages: captions, their lengths, and how well
-- people agree. CIDEr counts captions whose image has another one in the language.
WITH per_image AS (
    SELECT language, image_id, count(*) AS n FROM captions GROUP BY language, image_id
),

images AS (
    SELECT language, count(*) AS images, avg(n) AS mean, stddev_pop(n) AS sd
    FROM per_image GROUP BY language
)

SELECT
    captions.language,
    count(*) AS captions,
    any_value(images.images) AS images,
    round(any_value(images.mean), 6) AS per_image_mean,
    round(any_value(images.sd), 6) AS per_image_sd,
    round(avg(characters), 6) AS characters_mean,
    round(stddev_pop(characters), 6) AS characters_sd,
    round(avg(words), 6) AS words_mean,
    round(stddev_pop(words), 6) AS words_sd,
    round(avg(tokens), 6) AS tokens_mean,
    round(stddev_pop(tokens), 6) AS tokens_sd,
    count(cider) AS compared,
    round(favg(cider), 6) AS cider
FROM captions INNER JOIN images ON captions.language = images.language
GROUP BY captions.language
ORDER BY captions.language
