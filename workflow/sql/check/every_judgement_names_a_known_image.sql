SELECT qrels.*
FROM qrels
ANTI JOIN images ON qrels.image_id = images.image_id
ORDER BY ALL
