-- What our own sections show, without the sections whose pictures are hidden.
WITH shown AS (
    SELECT text_id, image_id FROM placed
    UNION
    SELECT text_id, image_id FROM qrels
)

SELECT shown.text_id, shown.image_id
FROM shown ANTI JOIN hidden ON shown.text_id = hidden.text_id
ORDER BY shown.text_id, shown.image_id
