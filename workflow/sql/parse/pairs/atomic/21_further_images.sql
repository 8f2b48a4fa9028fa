-- Images that the published tables lack, in their columns: those that only a track's topics have,
-- and those that only the words of their captions describe, in a language that these don't tell.
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
    caption_reference_description,
    caption_alt_text_description,
    caption_attribution_description
FROM asked_images
WHERE image_id NOT IN (SELECT p.image_id FROM published_images AS p)
QUALIFY row_number() OVER (PARTITION BY image_id ORDER BY file, row) = 1
UNION ALL
SELECT
    id AS image_id,
    NULL AS image_url,
    NULL AS language,
    [words] AS caption_reference_description,
    [''] AS caption_alt_text_description,
    [''] AS caption_attribution_description
FROM topic_words
WHERE
    id NOT IN (SELECT p.image_id FROM published_images AS p)
    AND id NOT IN (SELECT a.image_id FROM asked_images AS a)
ORDER BY image_id
