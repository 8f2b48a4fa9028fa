-- Texts, images and judgements as rows of pairs, in the order of their files. Texts of an earlier
-- release get the published form: a hierarchy without the page's title, a lead without the page's
-- context. The id of a text contains the page's number: projected-<page>-<section>.
WITH every_text AS (
    SELECT
        text_id, page_url, page_title, section_title, hierachy, context_page_description,
        context_section_description, category, source_id, media,
        row_number() OVER () AS row,
        released.is_earlier,
        released.is_earlier AND len(hierachy) = 1 AS is_earlier_lead
    FROM published_texts CROSS JOIN released
    UNION ALL BY NAME
    SELECT *, row_number() OVER () AS row, FALSE AS is_earlier, FALSE AS is_earlier_lead
    FROM further_texts
),

every_image AS (
    SELECT
        image_id, image_url, language, caption_reference_description,
        caption_alt_text_description, caption_attribution_description,
        row_number() OVER () AS row
    FROM published_images
    UNION ALL BY NAME
    SELECT *, row_number() OVER () AS row FROM further_images
),

every_row AS (
    SELECT
        'texts' AS file,
        row,
        text_id,
        context_section_description AS text,
        page_title AS title,
        section_title AS section,
        page_url,
        struct_pack(
            source_text_id := source_id,
            media := if(is_earlier, [], list_filter(media, LAMBDA f: f IS NOT NULL)),
            page_id := try_cast(split_part(text_id, '-', 2) AS BIGINT),
            hierarchy := array_to_string(
                CASE
                    WHEN is_earlier_lead THEN [section_title]
                    WHEN is_earlier THEN hierachy[2:]
                    ELSE hierachy
                END,
                ' / '
            ),
            context_page_description := if(is_earlier_lead, '', context_page_description),
            category := list_filter(category, LAMBDA c: c IS NOT NULL)
        ) AS text_own
    FROM every_text
    WHERE text_id IN (SELECT t.text_id FROM text_ids AS t)
    UNION ALL BY NAME
    SELECT
        'images' AS file,
        row,
        coalesce(image_url, image_id) AS image_url,
        image_id,
        struct_pack(
            language := language,
            caption_reference_description := list_transform(
                caption_reference_description, LAMBDA c: coalesce(c, '')
            ),
            caption_alt_text_description := list_transform(
                caption_alt_text_description, LAMBDA c: coalesce(c, '')
            ),
            caption_attribution_description := list_transform(
                caption_attribution_description, LAMBDA c: coalesce(c, '')
            )
        ) AS image_own
    FROM every_image
    UNION ALL BY NAME
    SELECT file, row, name AS image_url, text_id, split, relevance
    FROM judged
    WHERE reason IS NULL
)

SELECT
    file,
    row,
    0 AS nth,
    image_url,
    image_id,
    text_id,
    text,
    title,
    section,
    page_url,
    NULL AS language,
    split,
    relevance,
    NULL AS caption,
    NULL AS caption_language,
    NULL AS credit,
    NULL AS width,
    NULL AS height,
    NULL AS number,
    image_own,
    text_own
FROM every_row
