-- Captions of an image in other languages than the collection's, and not translated from it. A
-- translation has the tag of BCP 47's extension T (RFC 6497): en-t-de is English from German.
WITH other_captions AS (
    SELECT image_key, language, caption, file, row, place
    FROM entries
    WHERE NOT wordless AND NOT is_spoken(language, $language)
    UNION ALL
    SELECT image_key, 'en-t-' || language AS language, translation AS caption, file, row, place
    FROM entries
    WHERE
        NOT wordless AND NOT is_spoken(language, $language) AND language <> 'en'
        AND translation IS NOT NULL
)

SELECT
    image_key,
    list(language ORDER BY language, file, row, place) AS languages,
    list(caption ORDER BY language, file, row, place) AS captions
FROM other_captions
GROUP BY image_key
ORDER BY image_key
