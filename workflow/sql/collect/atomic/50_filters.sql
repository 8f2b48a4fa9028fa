-- The filters have been at work before publication: nothing is dropped here.
SELECT
    'published' AS step,
    split,
    count(*) AS before,
    0::BIGINT AS dropped,
    count(*) AS after
FROM qrels
GROUP BY split
ORDER BY list_position(['train', 'validation', 'test'], split)
