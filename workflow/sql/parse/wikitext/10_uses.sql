-- Every file that an article shows, and, if it is no picture of its section, the reason.
-- ASSUME the smallest thumbnail that WIT's filters leave is wider than 60 px; a drawing of unknown
-- size in a table, without frame, caption and alt-text, is a flag, a medal, or a sign. No paper
-- says so: AToMiC reads WIT's rows (section 4.1), not wikitext.
-- A file that is a redirect is its target; one step is followed, as by MediaWiki.
WITH redirects AS (
    SELECT file AS name, max(target) AS target
    FROM files
    WHERE target IS NOT NULL
    GROUP BY file
),

resolved AS (
    SELECT pictures.* REPLACE (coalesce(redirects.target, pictures.file) AS file)
    FROM pictures LEFT JOIN redirects ON pictures.file = redirects.name
),

named AS (
    SELECT *, lower(regexp_extract(file, '\.([^.]+)$', 1)) AS ending FROM resolved
)

SELECT
    * EXCLUDE (ending),
    CASE
        WHEN ending IN ('oga', 'ogg', 'wav', 'mp3', 'mid', 'midi', 'flac', 'opus') THEN 'audio'
        WHEN ending IN ('ogv', 'webm', 'mpg', 'mpeg', 'mp4') THEN 'video'
        WHEN ending IN ('pdf', 'djvu') THEN 'document'
        WHEN ending = 'stl' THEN 'solid'
        WHEN ending NOT IN ('jpg', 'jpeg', 'png', 'gif', 'svg', 'tif', 'tiff', 'webp', 'xcf')
            THEN 'unknown_kind'
        WHEN box = 'aside' OR (box = 'folded' AND NOT is_framed) THEN 'aside'
        WHEN (NOT is_framed OR (origin = 'template' AND caption = '')) AND width <= 60
            THEN 'icon'
        WHEN
            is_in_table AND NOT is_framed AND width IS NULL AND caption = '' AND alt = ''
            AND coalesce(box, '') <> 'infobox' AND ending IN ('svg', 'png', 'gif')
            THEN 'sign_in_table'
    END AS reason,
    CASE ending
        WHEN 'jpg' THEN 'image/jpeg' WHEN 'tif' THEN 'image/tiff' WHEN 'svg' THEN 'image/svg+xml'
        WHEN 'xcf' THEN 'image/x-xcf' ELSE 'image/' || ending
    END AS mime_type
FROM named
ORDER BY page_id, place
