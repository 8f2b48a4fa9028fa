WITH judged AS (
    SELECT DISTINCT
        text_id,
        split
    FROM qrels
)

SELECT t.* REPLACE (coalesce(judged.split, 'other') AS split)
FROM member_texts AS t
LEFT JOIN judged ON t.text_id = judged.text_id
ORDER BY t.text_id
