-- Texts of the pairs, and those that a row has alone: these are in the split of their row, or
-- `other`; those that several splits judge are in all of them. Of what several rows say of a text
-- the first counts, column by column.
WITH splits AS (
    SELECT
        text_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS split
    FROM qrels
    GROUP BY text_id
),

alone AS (
    SELECT pairs.text_id, any_value(pairs.split ORDER BY pairs.file, pairs.row, pairs.nth) AS split
    FROM pairs
    WHERE
        pairs.image_url IS NULL
        AND pairs.text_id NOT IN (SELECT u.text_id FROM usable AS u WHERE u.represents)
    GROUP BY pairs.text_id
),

listed AS (
    SELECT
        coalesce(splits.text_id, alone.text_id) AS text_id,
        coalesce(splits.split, alone.split, 'other') AS split
    FROM splits FULL JOIN alone ON splits.text_id = alone.text_id
),

own_columns AS (
    SELECT
        text_id AS _id,
        struct_pack(file, row, nth) AS _place,
        text AS _text,
        title AS _title,
        section AS _section,
        page_url AS _page_url,
        language AS _language,
        text_own.*
    FROM pairs
    WHERE text_id IS NOT NULL
),

described AS (
    SELECT _id, any_value(COLUMNS(* EXCLUDE (_id, _place)) ORDER BY _place)
    FROM own_columns
    GROUP BY _id
)

SELECT
    listed.text_id,
    NULL::BIGINT AS page_id,
    NULL::BIGINT AS revision_id,
    described._page_url AS page_url,
    described._title AS page_title,
    described._section AS section_title,
    NULL::VARCHAR AS hierarchy,
    NULL::VARCHAR AS context_page_description,
    described._text AS context_section_description,
    coalesce(described._language, $language) AS language,
    []::VARCHAR[] AS category,
    listed.split,
    described.* EXCLUDE (_id, _text, _title, _section, _page_url, _language)
FROM listed INNER JOIN described ON listed.text_id = described._id
ORDER BY listed.text_id
