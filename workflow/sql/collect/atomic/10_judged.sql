-- A published release has its judgements in one file a split.
SELECT text_id, image_id, rel AS relevance, 'train' AS split FROM train
UNION ALL
SELECT text_id, image_id, rel AS relevance, 'validation' AS split FROM validation
UNION ALL
SELECT text_id, image_id, rel AS relevance, 'test' AS split FROM test
ORDER BY text_id, image_id, split
