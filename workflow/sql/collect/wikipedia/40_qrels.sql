SELECT
    one_split.text_id,
    urls.image_id,
    1 AS relevance,
    one_split.split
FROM one_split
INNER JOIN urls ON one_split.image_url = urls.image_url
ORDER BY one_split.text_id, urls.image_id
