-- Where a file may be: on Commons, in the wiki itself, or in one of the two, which the crawl tries.
-- The address is that of https://www.mediawiki.org/wiki/Manual:$wgHashedUploadDirectory.
WITH listed AS (
    SELECT file, min(project) AS project, min(attribution) AS attribution
    FROM files
    GROUP BY file
),

addresses AS (
    SELECT
        uses.*,
        coalesce(listed.attribution, '') AS attribution,
        unnest(CASE
            WHEN listed.project IS NOT NULL THEN [listed.project]
            WHEN $is_complete THEN ['commons']
            ELSE ['commons', 'local']
        END) AS project
    FROM uses LEFT JOIN listed ON uses.file = listed.file
    WHERE uses.reason IS NULL
)

SELECT
    addresses.*,
    upload_url(
        addresses.file,
        if(
            addresses.project = 'commons', 'wikipedia/commons',
            repository_of(regexp_extract(sections.page_url, '^https?://([^/:]+)', 1))
        )
    ) AS image_url
FROM addresses INNER JOIN sections ON addresses.text_id = sections.text_id
ORDER BY addresses.page_id, addresses.place, addresses.project
