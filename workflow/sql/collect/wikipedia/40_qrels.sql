-- Filter (c): a pair is dropped if its text or its image occurs in more than one split.
WITH canonical AS (
    SELECT DISTINCT
        *,
        min(split) OVER same_image = max(split) OVER same_image AS image_in_one_split
    FROM pairs
    WHERE text_id IS NOT NULL
    WINDOW same_image AS (PARTITION BY image_url)
)

SELECT
    canonical.text_id,
    urls.image_id,
    1 AS relevance,
    canonical.split
FROM canonical
INNER JOIN urls ON canonical.image_url = urls.image_url
WHERE canonical.text_in_one_split AND canonical.image_in_one_split
ORDER BY canonical.text_id, urls.image_id
