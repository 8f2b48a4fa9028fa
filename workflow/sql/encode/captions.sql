-- The captions of some images in one language or all, one a row, in the order of their lists.
WITH entries AS (
    SELECT
        image_id,
        unnest(range(1, len(language) + 1)) AS place,
        unnest(language) AS caption_language,
        unnest(caption_reference_description) AS reference,
        unnest(caption_alt_text_description) AS alt_text,
        unnest(caption_attribution_description) AS attribution
    FROM images
    WHERE image_id BETWEEN $first AND $last
),

language_entries AS (
    SELECT * FROM entries WHERE is_spoken(caption_language, $language)
),

kinds AS (
    SELECT image_id, place, 1 AS kind, reference AS caption FROM language_entries
    UNION ALL
    SELECT image_id, place, 2 AS kind, alt_text AS caption FROM language_entries
    UNION ALL
    SELECT image_id, place, 3 AS kind, attribution AS caption FROM language_entries
)

SELECT image_id, trim(caption) AS caption
FROM kinds
WHERE trim(caption) <> ''
ORDER BY image_id ASC, kind ASC, place ASC
