-- The judged pairs of a split by image: the five fields of the text, the captions in one language.
-- The headings of a hierarchy are joined as encoders read them. Fields are cut after 1,000
-- characters, which is more than a context of 77 tokens.
-- ASSUME the caption lists run parallel to the list of languages, as in AToMiC's Parquet. Its paper
-- does not say.
WITH judged AS (
    SELECT
        image_id,
        text_id
    FROM qrels
    WHERE split = $split AND relevance > 0
),

image_captions AS (
    SELECT
        image_id,
        list_concat(
            list_zip(coalesce(language, []), coalesce(caption_reference_description, [])),
            list_zip(coalesce(language, []), coalesce(caption_alt_text_description, [])),
            list_zip(coalesce(language, []), coalesce(caption_attribution_description, []))
        ) AS entries
    FROM images
)

SELECT
    judged.image_id,
    judged.text_id,
    coalesce(left(texts.page_title, 1000), '') AS page_title,
    coalesce(left(texts.section_title, 1000), '') AS section_title,
    coalesce(steps(left(texts.hierarchy, 1000)), '') AS hierarchy,
    coalesce(left(texts.context_section_description, 1000), '') AS context_section_description,
    coalesce(left(texts.context_page_description, 1000), '') AS context_page_description,
    coalesce(list_sort(list_distinct(list_transform(
        list_filter(
            image_captions.entries,
            LAMBDA s: is_spoken(s[1], $language) AND length(s[2]) > 0
        ),
        LAMBDA s: s[2]
    ))), []) AS captions
FROM judged
INNER JOIN texts ON judged.text_id = texts.text_id
LEFT JOIN image_captions ON judged.image_id = image_captions.image_id
ORDER BY judged.image_id, judged.text_id
