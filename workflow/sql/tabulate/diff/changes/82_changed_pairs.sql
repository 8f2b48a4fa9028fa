-- What became of each judgement. Where its section, whatever became of that, still carries the
-- picture, it is unchanged; it has moved where another section does.
WITH earlier_pairs AS (
    SELECT q.*, identities.after_id
    FROM before_qrels AS q LEFT JOIN identities ON q.text_id = identities.before_id
),

pair_states AS (
    SELECT b.*, a.text_id IS NOT NULL AS is_kept
    FROM earlier_pairs AS b
    LEFT JOIN after_qrels AS a ON b.after_id = a.text_id AND b.image_id = a.image_id
),

new_pairs AS (
    SELECT a.* FROM after_qrels AS a
    ANTI JOIN earlier_pairs AS b ON a.text_id = b.after_id AND a.image_id = b.image_id
),

pair_changes AS (
    SELECT
        b.split, b.text_id || ' ' || b.image_id AS before_id,
        if(b.is_kept, b.after_id || ' ' || b.image_id, NULL) AS after_id,
        CASE
            WHEN b.is_kept THEN 'unchanged'
            WHEN b.image_id IN (SELECT new_pairs.image_id FROM new_pairs) THEN 'moved'
            WHEN b.after_id IN (SELECT new_pairs.text_id FROM new_pairs) THEN 'replaced'
            ELSE 'removed'
        END AS change,
        b.text_id AS before_text, NULL AS after_text
    FROM pair_states AS b
    UNION ALL
    SELECT
        new_pairs.split, NULL AS before_id,
        new_pairs.text_id || ' ' || new_pairs.image_id AS after_id,
        'added' AS change, NULL AS before_text, new_pairs.text_id AS after_text
    FROM new_pairs
)

SELECT
    'pair' AS kind, pair_changes.before_id, pair_changes.after_id, pages.page_class,
    pair_changes.change, pair_changes.split AS detail
FROM pair_changes
LEFT JOIN before_texts AS b ON pair_changes.before_text = b.text_id
LEFT JOIN after_texts AS a ON pair_changes.after_text = a.text_id
INNER JOIN pages ON coalesce(a.page_id, b.page_id) = pages.page_id
ORDER BY coalesce(pair_changes.before_id, pair_changes.after_id), pair_changes.after_id
