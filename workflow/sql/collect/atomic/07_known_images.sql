-- Images of the published tables, images that only a track's topics have, in the same columns, and
-- images that only the words of their captions describe.
WITH topic_words AS (
    SELECT id, arg_min(words, (file, row)) AS words
    FROM topics
    WHERE side = 'image' AND id IS NOT NULL AND words IS NOT NULL
    GROUP BY id
)

SELECT
    image_id,
    image_url,
    language,
    list_transform(caption_reference_description, LAMBDA c: coalesce(c, ''))
        AS caption_reference_description,
    list_transform(caption_alt_text_description, LAMBDA c: coalesce(c, ''))
        AS caption_alt_text_description,
    list_transform(caption_attribution_description, LAMBDA c: coalesce(c, ''))
        AS caption_attribution_description
FROM published_images
UNION ALL
SELECT
    id AS image_id,
    NULL AS image_url,
    [$language] AS language,
    [words] AS caption_reference_description,
    [''] AS caption_alt_text_description,
    [''] AS caption_attribution_description
FROM topic_words
WHERE
    id NOT IN (SELECT published_images.image_id FROM published_images)
    AND id NOT IN (SELECT asked_images.image_id FROM asked_images)
UNION ALL
SELECT
    any_value(image_id) AS image_id,
    arg_min(image_url, (file, row)) AS image_url,
    arg_min(language, (file, row)) AS language,
    list_transform(
        arg_min(caption_reference_description, (file, row)), LAMBDA c: coalesce(c, '')
    ) AS caption_reference_description,
    list_transform(
        arg_min(caption_alt_text_description, (file, row)), LAMBDA c: coalesce(c, '')
    ) AS caption_alt_text_description,
    list_transform(
        arg_min(caption_attribution_description, (file, row)), LAMBDA c: coalesce(c, '')
    ) AS caption_attribution_description
FROM asked_images
WHERE image_id NOT IN (SELECT published_images.image_id FROM published_images)
GROUP BY asked_images.image_id
ORDER BY image_id
