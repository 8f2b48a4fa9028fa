-- Whether an image of the query, or one that answers it, has a reference caption in the language.
WITH captioned AS (
    SELECT
        image_id,
        len(
            list_filter(
                range(1, len(language) + 1),
                LAMBDA i: is_spoken(language[i], $language)
                AND caption_reference_description[i] <> ''
            )
        ) > 0 AS captioned
    FROM images
),

queries AS (
    SELECT 't2m' AS task, split, text_id AS query_id, bool_or(captioned) AS captioned
    FROM qrels INNER JOIN captioned USING (image_id)
    GROUP BY split, text_id
    UNION ALL
    SELECT 'm2t' AS task, split, image_id AS query_id, bool_or(captioned) AS captioned
    FROM qrels INNER JOIN captioned USING (image_id)
    GROUP BY split, image_id
)

SELECT task, split, query_id, CASE WHEN captioned THEN 'present' ELSE 'absent' END AS stratum
FROM queries
ORDER BY task, split, query_id
