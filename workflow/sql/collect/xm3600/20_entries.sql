-- One row a caption, whichever form its line has.
WITH languages AS (
    SELECT file, row, line, image_key, doc, unnest(json_keys(doc)) AS language
    FROM lines
    WHERE published AND reason IS NULL
),

caption_lists AS (
    SELECT
        file, row, line, image_key, language,
        from_json(doc -> ('$."' || language || '".caption'), '["VARCHAR"]') AS captions
    FROM languages
    WHERE NOT contains(language, '/')
),

all_captions AS (
    SELECT
        file, row, line, image_key, language,
        unnest(range(1, len(captions) + 1)) AS place, unnest(captions) AS caption,
        NULL::VARCHAR AS translation, []::VARCHAR[] AS synsets
    FROM caption_lists
    UNION ALL
    SELECT
        file, row, line, image_key, doc ->> 'language' AS language, 1 AS place,
        doc ->> 'caption' AS caption, nullif(trim(doc ->> 'caption_en'), '') AS translation,
        coalesce(from_json(doc -> 'synsets', '["VARCHAR"]'), []) AS synsets
    FROM lines
    WHERE NOT published AND reason IS NULL
)

SELECT
    file, row, line, image_key, language, trim(caption) AS caption, translation, synsets,
    place::INT AS place,
    NOT regexp_matches(coalesce(caption, ''), '[\p{L}\p{N}]') AS wordless
FROM all_captions
ORDER BY file ASC, row ASC, language ASC, place ASC
