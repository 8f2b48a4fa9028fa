-- The fields of some texts in each of two snapshots.
SELECT *
FROM (
    SELECT *, 'before' AS side FROM before_texts
    UNION ALL BY NAME
    SELECT *, 'after' AS side FROM after_texts
) AS both_sides
WHERE list_contains($ids, text_id)
ORDER BY text_id ASC, side DESC
