-- Records that can't be read, and those of a page that has a later one.
WITH ranked AS (
    SELECT
        file,
        nth AS row, -- noqa: RF04
        'repeated_page' AS reason,
        page_title AS detail,
        item AS raw,
        row_number() OVER (
            PARTITION BY page_title
            ORDER BY modified DESC, file DESC, nth DESC
        ) AS place
    FROM blocks
)

SELECT
    file,
    row,
    reason,
    detail,
    raw
FROM bad
UNION ALL BY NAME
SELECT
    file,
    row,
    reason,
    detail,
    raw
FROM ranked
WHERE place > 1
ORDER BY file, row
