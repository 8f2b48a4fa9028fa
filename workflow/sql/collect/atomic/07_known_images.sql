-- Images of the published tables, and images that only a topic, the words of their captions,
-- describes.
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
WHERE id NOT IN (SELECT published_images.image_id FROM published_images)
ORDER BY image_id
