SELECT p.*
FROM all_pairs AS p
SEMI JOIN urls ON p.image_url = urls.image_url
ORDER BY ALL
