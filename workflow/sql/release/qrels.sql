-- The published columns of AToMiC's qrels.
SELECT
    text_id,
    'Q0' AS "Q0", -- noqa: RF06
    image_id,
    relevance AS rel
FROM qrels
WHERE split = $split
ORDER BY text_id, image_id
