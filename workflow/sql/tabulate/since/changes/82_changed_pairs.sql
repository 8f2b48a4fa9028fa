-- What became of each judgement: of its section, its picture, and the two together.
WITH carried AS (
    SELECT q.*, identities.after_id, identities.method
    FROM before_qrels AS q LEFT JOIN identities ON q.text_id = identities.before_id
),

lasting AS (
    SELECT b.*, a.text_id IS NOT NULL AS is_kept
    FROM carried AS b
    LEFT JOIN after_qrels AS a ON b.after_id = a.text_id AND b.image_id = a.image_id
),

fresh AS (
    SELECT a.* FROM after_qrels AS a
    ANTI JOIN carried AS b ON a.text_id = b.after_id AND a.image_id = b.image_id
),

every AS (
    SELECT
        b.split, b.text_id || ' ' || b.image_id AS before_id,
        if(b.is_kept, b.after_id || ' ' || b.image_id, NULL) AS after_id,
        CASE
            WHEN b.is_kept THEN if(b.method = 'same', 'unchanged', b.method)
            WHEN b.image_id IN (SELECT fresh.image_id FROM fresh) THEN 'moved'
            WHEN b.after_id IN (SELECT fresh.text_id FROM fresh) THEN 'replaced'
            ELSE 'removed'
        END AS change,
        b.text_id AS before_text, NULL AS after_text
    FROM lasting AS b
    UNION ALL
    SELECT
        fresh.split, NULL AS before_id, fresh.text_id || ' ' || fresh.image_id AS after_id,
        'added' AS change, NULL AS before_text, fresh.text_id AS after_text
    FROM fresh
)

SELECT
    'pair' AS kind, every.before_id, every.after_id, pages.page_class, every.change,
    every.split AS detail
FROM every
LEFT JOIN before_texts AS b ON every.before_text = b.text_id
LEFT JOIN after_texts AS a ON every.after_text = a.text_id
INNER JOIN pages ON coalesce(a.page_id, b.page_id) = pages.page_id
ORDER BY coalesce(every.before_id, every.after_id), every.after_id
