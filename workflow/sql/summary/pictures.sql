-- What became of the pictures of each source; no reason for those that are there. Of a folder of
-- one's own pictures (`named`: the sources of pairs and the names in their rows, without folder and
-- suffix) only those count that a pair names: it may hold pages and sounds as well. What was read
-- and is in no pair may stand in a row that was set aside.
WITH listed AS (
    SELECT
        source,
        status,
        regexp_replace(
            regexp_extract(image_url, '[^/]+$'), '[.](jpe?g|png|webp|gif|bmp|tiff?)$', '', 'i'
        ) AS stem
    FROM ledger
),

counted AS (
    SELECT
        listed.source,
        CASE
            WHEN listed.source NOT IN (SELECT n.source FROM named AS n) OR named.stem IS NOT NULL
                THEN listed.status
            WHEN listed.status = 'success' THEN 'in_no_pair'
        END AS status
    FROM listed
    LEFT JOIN named ON listed.source = named.source AND listed.stem = named.stem
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
