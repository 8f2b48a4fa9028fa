-- Of a corpus that splits share: an item is in the splits that judge it, such as `train+test`.
WITH judged AS (
    SELECT
        image_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS splits
    FROM qrels
    GROUP BY image_id
)

SELECT
    judged.*,
    images.split AS image_split
FROM judged
INNER JOIN images ON judged.image_id = images.image_id
WHERE judged.splits <> images.split
ORDER BY ALL
