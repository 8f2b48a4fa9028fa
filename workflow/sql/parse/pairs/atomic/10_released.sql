-- Whether the texts are a release of an earlier isotope: there every hierarchy begins with the
-- title of the page, and that of a lead is nothing more.
SELECT
    coalesce(
        bool_and(hierachy[1] = page_title)
        AND bool_and(len(hierachy) = 1) FILTER (text_id LIKE '%-000'),
        FALSE
    ) AS is_earlier
FROM published_texts
WHERE len(hierachy) > 0
