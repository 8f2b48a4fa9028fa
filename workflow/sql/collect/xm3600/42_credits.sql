-- The published attributions are Open Images' own table of metadata.
SELECT
    imageid AS image_key,
    min(concat_ws(', ', nullif(title, ''), nullif(author, ''), nullif(license, ''))) AS credit
FROM attributions
GROUP BY image_key
ORDER BY image_key
