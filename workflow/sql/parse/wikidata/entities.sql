-- Each page of the wiki once: of several records the one that was modified last.
SELECT
    item,
    page_title,
    names,
    pictures,
    category,
    classes
FROM blocks
QUALIFY
    row_number() OVER (
        PARTITION BY page_title
        ORDER BY modified DESC, file DESC, nth DESC
    ) = 1
ORDER BY page_title
