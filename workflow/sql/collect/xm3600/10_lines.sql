-- A line is an image with the captions of all its languages, as published, or one caption.
WITH parsed AS (
    SELECT file, row, line, try_cast(line AS JSON) AS doc FROM captions
)

SELECT
    file,
    row,
    line,
    doc,
    coalesce(doc ->> 'image/key', doc ->> 'image_id') AS image_key,
    doc ->> 'image/locale' AS locale,
    doc ->> 'image/key' IS NOT NULL AS published,
    CASE
        WHEN doc IS NULL THEN 'not_json'
        WHEN coalesce(doc ->> 'image/key', doc ->> 'image_id', '') = '' THEN 'no_image'
        WHEN doc ->> 'image/key' IS NULL AND coalesce(doc ->> 'language', '') = ''
            THEN 'no_language'
    END AS reason
FROM parsed
ORDER BY file ASC, row ASC
