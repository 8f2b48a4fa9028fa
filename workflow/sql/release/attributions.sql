-- Whom an image asks to be named, and under which licence, by its own attribution captions.
-- ASSUME an image whose captions name no licence has an unknown one: it is not free to reuse.
WITH entries AS (
    SELECT
        image_id,
        image_url,
        list_distinct(
            list_filter(caption_attribution_description, LAMBDA c: c IS NOT NULL AND c <> '')
        ) AS captions
    FROM images
),

told AS (
    SELECT
        image_id,
        image_url,
        array_to_string(list_sort(captions), ' | ') AS attribution
    FROM entries
)

SELECT
    image_id,
    image_url,
    if(attribution = '', 'unknown', attribution) AS attribution,
    CASE
        WHEN regexp_matches(attribution, 'CC0|CC-?Zero|Public Domain Dedication', 'i') THEN 'CC0'
        WHEN regexp_matches(attribution, 'share[- ]?alike|CC[- ]BY[- ]SA', 'i') THEN 'CC BY-SA'
        WHEN regexp_matches(attribution, 'Creative Commons Attribution|CC[- ]BY', 'i') THEN 'CC BY'
        WHEN regexp_matches(attribution, 'public domain', 'i') THEN 'public domain'
        WHEN regexp_matches(attribution, 'GNU Free Documentation|GFDL', 'i') THEN 'GFDL'
        WHEN regexp_matches(attribution, 'fair use|non-free', 'i') THEN 'fair use'
        ELSE 'unknown'
    END AS licence
FROM told
ORDER BY image_id
