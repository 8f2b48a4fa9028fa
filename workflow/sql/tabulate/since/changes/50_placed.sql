-- Of the others, two that stand between the same two sections.
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
        coalesce(ours.before_id, theirs.before_id) AS identity
    FROM sections
    LEFT JOIN matched AS ours ON NOT sections.is_after AND sections.text_id = ours.before_id
    LEFT JOIN matched AS theirs ON sections.is_after AND sections.text_id = theirs.after_id
),

standing AS (
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
FROM standing AS b
INNER JOIN standing AS a
    ON b.page_id = a.page_id AND b.above = a.above AND b.below = a.below
WHERE a.is_after AND NOT b.is_after AND a.identity IS NULL AND b.identity IS NULL
ORDER BY before_id
