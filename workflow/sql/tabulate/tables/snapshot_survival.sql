-- How many judgements of the earlier snapshot are also in the later one.
SELECT
    coalesce(detail, 'all') AS split,
    count(*) AS judgements,
    count(*) FILTER (change = 'unchanged') AS held,
    count(*) FILTER (change = 'unchanged') / count(*) AS held_share,
    count(*) FILTER (change = 'moved') AS picture_in_another_section,
    count(*) FILTER (change = 'replaced') AS section_has_another_picture,
    count(*) FILTER (change = 'removed') AS gone
FROM changes
WHERE kind = 'pair' AND before_id IS NOT NULL
GROUP BY GROUPING SETS ((), (detail))
ORDER BY grouping(detail) DESC, list_position(['train', 'validation', 'test', 'other'], detail)
