-- What became of each image, and of the words that stand by it.
WITH compared AS (
    SELECT
        coalesce(a.image_id, b.image_id) AS image_id,
        b.image_id IS NULL AS is_new, a.image_id IS NULL AS is_gone,
        coalesce(a.image_url, b.image_url) AS detail,
        list_sort(list_distinct(b.caption_reference_description))
        <> list_sort(list_distinct(a.caption_reference_description))
        OR list_sort(list_distinct(b.caption_alt_text_description))
        <> list_sort(list_distinct(a.caption_alt_text_description)) AS is_retold,
        a.sha256 <> b.sha256 AS is_redrawn
    FROM before_images AS b FULL JOIN after_images AS a ON b.image_id = a.image_id
)

SELECT
    'image' AS kind,
    if(is_new, NULL, image_id) AS before_id,
    if(is_gone, NULL, image_id) AS after_id,
    NULL::VARCHAR AS page_class,
    CASE
        WHEN is_new THEN 'added'
        WHEN is_gone THEN 'removed'
        WHEN is_redrawn THEN 'replaced'
        WHEN is_retold THEN 'edited'
        ELSE 'unchanged'
    END AS change,
    detail
FROM compared
ORDER BY image_id
