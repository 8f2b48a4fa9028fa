-- A picture's first query keeps the picture's id; a further one is an image of its own (uuid3).
WITH usable AS (
    SELECT
        asked.*, pictures.image_id AS picture_id, pictures.image_url, pictures.width,
        pictures.height, pictures.sha256,
        row_number() OVER (PARTITION BY pictures.image_id ORDER BY asked.data_id) > 1 AS again
    FROM asked
    INNER JOIN pictures ON asked.picture = pictures.key
    ANTI JOIN rejected ON asked.file = rejected.file AND asked.row = rejected.row
),

addressed AS (
    SELECT
        * REPLACE (CASE WHEN again THEN image_url || '#' || data_id ELSE image_url END AS image_url)
    FROM usable
),

hashed AS (
    SELECT
        *, md5(from_hex('6ba7b8119dad11d180b400c04fd430c8') || encode(image_url)) AS h
    FROM addressed
)

SELECT
    * EXCLUDE (h, seen),
    concat_ws(
        '-', h[1:8], h[9:12], '3' || h[14:16],
        substr('89ab', (('0x' || h[17])::INTEGER & 3) + 1, 1) || h[18:20], h[21:32]
    ) AS image_id,
    -- Section 2 of the paper: unseen are "entities not present in the fine-tuning data"; so where
    -- the data do not say.
    coalesce(seen, CASE
        WHEN entity_id IS NULL OR count(*) FILTER (split = 'train') OVER () = 0 THEN NULL
        WHEN count(*) FILTER (split = 'train') OVER (PARTITION BY entity_id) > 0 THEN 'seen'
        ELSE 'unseen'
    END) AS seen
FROM hashed
ORDER BY data_id
