-- Pictures of the pairs, and those that a row has alone: these are in the split of their row, or
-- `other`. Captions are what the data says of a picture, and its texts that are none of the
-- collection; a form may tell all columns of captions itself.
WITH splits AS (
    SELECT
        image_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS split
    FROM qrels
    GROUP BY image_id
),

in_order AS (
    SELECT *, if($texts = 'language', language, '') AS by_language FROM usable WHERE represents
),

representing AS (
    SELECT
        image_id,
        list(text ORDER BY by_language, number, file, row, nth) AS texts,
        list(coalesce(language, '') ORDER BY by_language, number, file, row, nth) AS languages
    FROM in_order
    GROUP BY image_id
),

pictured AS (
    SELECT
        pairs.* EXCLUDE (image_id, image_url, width, height),
        located.* EXCLUDE (name, width, height),
        coalesce(located.width, pairs.width) AS width,
        coalesce(located.height, pairs.height) AS height
    FROM pairs INNER JOIN located ON pairs.image_url = located.name
    WHERE pairs.image_own IS NOT NULL
),

own_columns AS (
    SELECT
        image_id AS _id,
        struct_pack(file, row, nth) AS _place,
        image_url AS _image_url,
        is_published AS _is_published,
        mime_type AS _mime_type,
        width AS _width,
        height AS _height,
        sha256 AS _sha256,
        CASE
            WHEN
                text_id IS NULL
                AND problem IS NULL
                AND coalesce($texts, 'all') NOT IN ('first-of-several', 'five')
                THEN TRUE
        END AS _is_alone,
        if(_is_alone, split, NULL) AS _split,
        nullif(caption, []) AS _caption,
        nullif(caption_language, []) AS _caption_language,
        credit AS _credit,
        image_own.*
    FROM pictured
    UNION ALL BY NAME
    SELECT
        NULL::VARCHAR[] AS language,
        NULL::VARCHAR[] AS caption_reference_description,
        NULL::VARCHAR[] AS caption_alt_text_description,
        NULL::VARCHAR[] AS caption_attribution_description
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
),

captioned AS (
    SELECT
        described.* EXCLUDE (_caption, _caption_language, _is_alone, _split),
        coalesce(splits.split, described._split, 'other') AS _split,
        list_concat(coalesce(described._caption, []), coalesce(representing.texts, []))
            AS _captions,
        list_transform(
            list_concat(
                coalesce(described._caption_language, []), coalesce(representing.languages, [])
            ),
            LAMBDA l: coalesce(nullif(l, ''), $captions, $language)
        ) AS _languages
    FROM described
    LEFT JOIN splits ON described._id = splits.image_id
    LEFT JOIN representing ON described._id = representing.image_id
    WHERE splits.image_id IS NOT NULL OR described._is_alone
)

-- The credit is in no language (und), so no system that reads captions sees it.
SELECT
    _id AS image_id,
    _image_url AS image_url,
    CASE
        WHEN NOT _is_published
            THEN list_concat(_languages, if(_credit IS NULL, [], ['und']))
        ELSE
            coalesce(
                language,
                list_transform(
                    caption_reference_description, LAMBDA _: coalesce($captions, $language)
                )
            )
    END AS language,
    if(
        _is_published,
        caption_reference_description,
        list_concat(_captions, if(_credit IS NULL, [], ['']))
    ) AS caption_reference_description,
    if(
        _is_published,
        caption_alt_text_description,
        list_concat(
            list_transform(_captions, LAMBDA _: ''), if(_credit IS NULL, [], [''])
        )
    ) AS caption_alt_text_description,
    if(
        _is_published,
        caption_attribution_description,
        list_concat(
            list_transform(_captions, LAMBDA _: ''), if(_credit IS NULL, [], [_credit])
        )
    ) AS caption_attribution_description,
    _mime_type AS mime_type,
    _width AS width,
    _height AS height,
    _sha256 AS sha256,
    _split AS split,
    captioned.* EXCLUDE (
        _id, _image_url, _is_published, _mime_type, _width, _height, _sha256, _split, _captions,
        _languages, _credit, language, caption_reference_description,
        caption_alt_text_description, caption_attribution_description
    )
FROM captioned
ORDER BY _id
