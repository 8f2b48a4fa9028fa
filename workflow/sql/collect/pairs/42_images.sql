-- Pictures of the pairs, and those that a row has alone: these are in the split of their row, or
-- `other`. Captions are what the data says of a picture, and its texts that are none of the
-- collection.
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

alone AS (
    SELECT
        located.image_id,
        any_value(pairs.split ORDER BY pairs.file, pairs.row, pairs.nth) AS split
    FROM pairs INNER JOIN located ON pairs.image_url = located.name
    WHERE
        pairs.text_id IS NULL
        AND located.problem IS NULL
        AND coalesce($texts, 'all') NOT IN ('first-of-several', 'five')
    GROUP BY located.image_id
),

listed AS (
    SELECT
        coalesce(splits.image_id, alone.image_id) AS image_id,
        coalesce(splits.split, alone.split, 'other') AS split
    FROM splits FULL JOIN alone ON splits.image_id = alone.image_id
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
    SELECT pairs.*, located.image_id
    FROM pairs INNER JOIN located ON pairs.image_url = located.name
),

own_columns AS (
    SELECT
        image_id AS _id,
        struct_pack(file, row, nth) AS _place,
        nullif(caption, []) AS _caption,
        nullif(caption_language, []) AS _caption_language,
        credit AS _credit,
        pictured.width AS _width,
        pictured.height AS _height,
        image_own.*
    FROM pictured
),

described AS (
    SELECT _id, any_value(COLUMNS(* EXCLUDE (_id, _place)) ORDER BY _place)
    FROM own_columns
    GROUP BY _id
),

pictures AS (
    SELECT
        image_id,
        min(image_url) AS image_url,
        min(mime_type) AS mime_type,
        min(width) AS width,
        min(height) AS height,
        min(sha256) AS sha256
    FROM located
    GROUP BY image_id
),

captioned AS (
    SELECT
        listed.image_id,
        listed.split,
        list_concat(coalesce(described._caption, []), coalesce(representing.texts, [])) AS captions,
        list_concat(
            coalesce(described._caption_language, []), coalesce(representing.languages, [])
        ) AS languages
    FROM listed
    INNER JOIN described ON listed.image_id = described._id
    LEFT JOIN representing ON listed.image_id = representing.image_id
)

-- The credit is in no language (und), so no system that reads captions sees it.
SELECT
    captioned.image_id,
    pictures.image_url,
    list_concat(
        list_transform(
            captioned.languages, LAMBDA l: coalesce(nullif(l, ''), $captions, $language)
        ),
        if(described._credit IS NULL, [], ['und'])
    ) AS language,
    list_concat(captioned.captions, if(described._credit IS NULL, [], ['']))
        AS caption_reference_description,
    list_transform(caption_reference_description, LAMBDA _: '') AS caption_alt_text_description,
    list_concat(
        list_transform(captioned.captions, LAMBDA _: ''),
        if(described._credit IS NULL, [], [described._credit])
    ) AS caption_attribution_description,
    pictures.mime_type,
    coalesce(pictures.width, described._width) AS width,
    coalesce(pictures.height, described._height) AS height,
    pictures.sha256,
    captioned.split,
    described.* EXCLUDE (_id, _caption, _caption_language, _credit, _width, _height)
FROM captioned
INNER JOIN pictures ON captioned.image_id = pictures.image_id
INNER JOIN described ON captioned.image_id = described._id
ORDER BY captioned.image_id
