-- One entry per language and wording, in the order of the members and of their lists.
WITH member_captions AS (
    SELECT
        image_id,
        member,
        unnest(range(1, len(language) + 1)) AS place,
        unnest(language) AS language,
        unnest(caption_reference_description) AS reference,
        unnest(caption_alt_text_description) AS alt_text,
        unnest(caption_attribution_description) AS attribution
    FROM member_images
)

SELECT
    image_id,
    language,
    reference,
    alt_text,
    attribution,
    min((member, place)) AS seen
FROM member_captions
GROUP BY ALL
ORDER BY ALL
