-- Of a corpus that splits share: an item is in the splits that judge it, such as `train+test`.
WITH judged AS (
    SELECT
        text_id,
        array_to_string(
            list_filter(
                ['train', 'validation', 'test'], LAMBDA s: list_contains(list(split), s)
            ),
            '+'
        ) AS splits
    FROM qrels
    GROUP BY text_id
)

SELECT
    judged.*,
    texts.split AS text_split
FROM judged
INNER JOIN texts ON judged.text_id = texts.text_id
WHERE judged.splits <> texts.split
ORDER BY ALL
