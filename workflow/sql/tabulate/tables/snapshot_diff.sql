-- What has changed, in all and by what became of the page; an image belongs to no one page.
SELECT
    kind,
    change,
    count(*) AS every,
    if(kind = 'image', NULL, count(*) FILTER (page_class = 'new')) AS on_new_pages,
    if(kind = 'image', NULL, count(*) FILTER (page_class = 'gone')) AS on_gone_pages,
    if(kind = 'image', NULL, count(*) FILTER (page_class = 'renamed')) AS on_renamed_pages,
    if(kind = 'image', NULL, count(*) FILTER (page_class = 'edited')) AS on_edited_pages,
    if(kind = 'image', NULL, count(*) FILTER (page_class = 'untouched')) AS on_untouched_pages
FROM changes
GROUP BY kind, change
ORDER BY
    list_position(['text', 'image', 'pair'], kind),
    list_position(
        ['unchanged', 'edited', 'renamed', 'moved', 'replaced', 'added', 'removed'], change
    )
