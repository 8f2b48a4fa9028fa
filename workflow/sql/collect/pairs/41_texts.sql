-- Texts of the pairs, and those that a row has alone: these are in the split of their row, or
-- `other`; those that several splits judge are in all of them. Of what several rows say of a text
-- the first counts, column by column. A form may tell columns of this table itself.
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

own_columns AS (
    SELECT
        text_id AS _id,
        struct_pack(file, row, nth) AS _place,
        text AS _text,
        title AS _title,
        section AS _section,
        page_url AS _page_url,
        language AS _language,
        if(image_url IS NULL, TRUE, NULL) AS _is_alone,
        if(image_url IS NULL, split, NULL) AS _split,
        text_own.*
    FROM pairs
    WHERE text_id IS NOT NULL AND text_own IS NOT NULL
    UNION ALL BY NAME
    SELECT
        NULL::BIGINT AS page_id,
        NULL::VARCHAR AS hierarchy,
        NULL::VARCHAR AS context_page_description,
        NULL::VARCHAR[] AS category
    WHERE FALSE
),

repeated AS (SELECT _id FROM own_columns GROUP BY _id HAVING count(*) > 1),

described AS (
    SELECT * EXCLUDE (_place) FROM own_columns ANTI JOIN repeated ON own_columns._id = repeated._id
    UNION ALL
    SELECT _id, any_value(COLUMNS(* EXCLUDE (_id, _place)) ORDER BY _place)
    FROM own_columns
    WHERE _id IN (SELECT r._id FROM repeated AS r)
    GROUP BY _id
)

SELECT
    described._id AS text_id,
    described.page_id,
    NULL::BIGINT AS revision_id,
    described._page_url AS page_url,
    described._title AS page_title,
    described._section AS section_title,
    described.hierarchy,
    described.context_page_description,
    described._text AS context_section_description,
    coalesce(described._language, $language) AS language,
    coalesce(described.category, []) AS category,
    coalesce(splits.split, described._split, 'other') AS split,
    described.* EXCLUDE (
        _id, _text, _title, _section, _page_url, _language, _is_alone, _split,
        page_id, hierarchy, context_page_description, category
    )
FROM described LEFT JOIN splits ON described._id = splits.text_id
WHERE
    splits.text_id IS NOT NULL
    OR (
        described._is_alone
        AND described._id NOT IN (SELECT u.text_id FROM usable AS u WHERE u.represents)
    )
ORDER BY described._id
