SELECT c.*
FROM all_canonical AS c
SEMI JOIN urls ON c.image_url = urls.image_url
ORDER BY ALL
