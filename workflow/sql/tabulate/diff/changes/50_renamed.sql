-- Of the other sections, pairs that stand between the same two sections.
WITH matched AS (
    SELECT * FROM same
    UNION ALL
    SELECT * FROM moved
    UNION ALL
    SELECT * FROM alike
),

identified AS (
    SELECT
        sections.is_after, sections.page_id, sections.text_id, sections.place,
        coalesce(as_before.before_id, as_after.before_id) AS identity
    FROM sections
    LEFT JOIN matched AS as_before
        ON NOT sections.is_after AND sections.text_id = as_before.before_id
    LEFT JOIN matched AS as_after ON sections.is_after AND sections.text_id = as_after.after_id
),

neighbours AS (
    SELECT
        *,
        coalesce(lag(identity) OVER around, if(place = 1, 'top', NULL)) AS above,
        coalesce(
            lead(identity) OVER around, if(lead(text_id) OVER around IS NULL, 'bottom', NULL)
        ) AS below
    FROM identified
    WINDOW around AS (PARTITION BY is_after, page_id ORDER BY place)
)

SELECT b.text_id AS before_id, a.text_id AS after_id, 'renamed' AS method
FROM neighbours AS b
INNER JOIN neighbours AS a
    ON b.page_id = a.page_id AND b.above = a.above AND b.below = a.below
WHERE a.is_after AND NOT b.is_after AND a.identity IS NULL AND b.identity IS NULL
ORDER BY before_id
