-- Where a file may be: on Commons, in the wiki itself, or in one of the two, which the crawl tries.
-- The address is that of https://www.mediawiki.org/wiki/Manual:$wgHashedUploadDirectory.
WITH told AS (
    SELECT file, min(project) AS project, min(attribution) AS attribution
    FROM files
    GROUP BY file
),

placed AS (
    SELECT
        shown.*,
        coalesce(told.attribution, '') AS attribution,
        replace(shown.file, ' ', '_') AS name,
        md5(replace(shown.file, ' ', '_')) AS digest,
        unnest(CASE
            WHEN told.project IS NOT NULL THEN [told.project]
            WHEN $is_complete THEN ['commons']
            ELSE ['commons', 'local']
        END) AS project
    FROM shown LEFT JOIN told ON shown.file = told.file
    WHERE shown.reason IS NULL
)

SELECT
    placed.* EXCLUDE (name, digest),
    concat_ws(
        '/', 'https://upload.wikimedia.org', if(
            placed.project = 'commons', 'wikipedia/commons', regexp_replace(
                sections.page_url, '^https?://([^./]+)\.([^./]+)\..*$', '\2/\1'
            )
        ), digest[1], digest[1:2], url_encode(name)
    ) AS image_url
FROM placed INNER JOIN sections ON placed.text_id = sections.text_id
ORDER BY placed.page_id, placed.place, placed.project
