-- Of a corpus that splits share: an item is in the splits that judge it, such as `train+test`.
WITH items AS (
    SELECT 'text' AS side, text_id AS id, split FROM texts
    UNION ALL
    SELECT 'image' AS side, image_id AS id, split FROM images
),

judged AS (
    SELECT 'text' AS side, text_id AS id, split FROM qrels
    UNION ALL
    SELECT 'image' AS side, image_id AS id, split FROM qrels
),

judging AS (
    SELECT
        side,
        id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS splits
    FROM judged
    GROUP BY side, id
)

SELECT
    judging.*,
    items.split
FROM judging
INNER JOIN items ON judging.side = items.side AND judging.id = items.id
WHERE judging.splits <> items.split
ORDER BY ALL
