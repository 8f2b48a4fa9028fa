-- Pictures of which something says what kinds they may be of: at most $most of each sign.
WITH signed AS (
    SELECT
        *, CASE
            WHEN least(width, height) <= $tiny_side_px AND colours <= $tiny_colours THEN 'tiny'
            WHEN pages > $pages THEN 'used up'
            WHEN is_chosen THEN 'chosen'
        END AS sign
    FROM described
)

SELECT *
FROM signed
WHERE sign IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY sign ORDER BY md5(image_id)) <= $most
ORDER BY image_id
