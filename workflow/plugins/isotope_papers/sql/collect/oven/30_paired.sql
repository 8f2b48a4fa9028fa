-- A picture's first query keeps the picture's id; a further one is an image of its own (uuid3).
WITH usable AS (
    SELECT
        annotations.*, pictures.image_id AS picture_id, pictures.image_url, pictures.width,
        pictures.height, pictures.sha256,
        row_number() OVER (PARTITION BY pictures.image_id ORDER BY annotations.data_id) > 1 AS again
    FROM annotations
    INNER JOIN pictures ON annotations.picture = pictures.key
    ANTI JOIN rejected ON annotations.file = rejected.file AND annotations.row = rejected.row
),

addressed AS (
    SELECT
        * REPLACE (CASE WHEN again THEN image_url || '#' || data_id ELSE image_url END AS image_url)
    FROM usable
)

SELECT
    * EXCLUDE (seen),
    url_uuid(image_url) AS image_id,
    -- Section 2 of the paper: unseen are "entities not present in the fine-tuning data"; so where
    -- the data do not say.
    coalesce(seen, CASE
        WHEN entity_id IS NULL OR count(*) FILTER (split = 'train') OVER () = 0 THEN NULL
        WHEN count(*) FILTER (split = 'train') OVER (PARTITION BY entity_id) > 0 THEN 'seen'
        ELSE 'unseen'
    END) AS seen
FROM addressed
ORDER BY data_id
