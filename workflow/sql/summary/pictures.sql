-- What became of the pictures of each source; no reason for those that are there. Of a folder of
-- one's own pictures (`named`: the sources of pairs and the names in their rows, without folder and
-- suffix) only those count that a pair names: it may hold pages and sounds as well. What was read
-- and is in no pair may stand in a row that was set aside, or have the name of a picture in another
-- folder: where the collection is made, its pictures (`chosen`) tell, and else names alone.
WITH listed AS (
    SELECT
        source,
        status,
        image_url,
        regexp_replace(
            regexp_extract(image_url, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS stem
    FROM ledger
),

counted AS (
    SELECT
        listed.source,
        CASE
            WHEN listed.source NOT IN (SELECT n.source FROM named AS n) THEN listed.status
            WHEN
                listed.status = 'success'
                AND (
                    named.stem IS NULL
                    OR (
                        chosen.image_url IS NULL
                        AND listed.source IN (SELECT c.source FROM chosen AS c)
                    )
                )
                THEN 'in_no_pair'
            WHEN named.stem IS NOT NULL THEN listed.status
        END AS status
    FROM listed
    LEFT JOIN named ON listed.source = named.source AND listed.stem = named.stem
    LEFT JOIN chosen ON listed.source = chosen.source AND listed.image_url = chosen.image_url
)

SELECT
    source AS name,
    'pictures' AS things,
    '' AS split,
    CASE WHEN status != 'success' THEN replace(status, '_', ' ') END AS reason,
    count(*) AS n
FROM counted
WHERE status IS NOT NULL
GROUP BY source, status
