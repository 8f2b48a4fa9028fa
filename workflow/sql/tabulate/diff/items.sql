-- What has changed, by the page that it stands on: of each class the pages with the most changes,
-- of each page some of every kind and change in turn.
WITH ids AS (
    SELECT
        coalesce(a.text_id, b.text_id) AS id, coalesce(a.page_id, b.page_id) AS page_id,
        a.page_title AS title, b.page_title AS was, coalesce(a.page_url, b.page_url, '') AS url
    FROM before_texts AS b FULL JOIN after_texts AS a ON b.text_id = a.text_id
),

judged AS (
    SELECT
        coalesce(a.image_id, b.image_id) AS ident,
        min(coalesce(a.text_id, b.text_id)) AS text_id
    FROM before_qrels AS b FULL JOIN after_qrels AS a ON b.image_id = a.image_id
    GROUP BY ident
),

page_changes AS (
    SELECT
        changes.*, ids.page_id,
        max(changes.page_class) OVER on_page AS class, max(ids.title) OVER on_page AS title,
        max(ids.was) OVER on_page AS was, max(ids.url) OVER on_page AS url,
        count(*) FILTER (changes.change <> 'unchanged') OVER on_page AS total,
        count(*) OVER alike AS of_its_kind, row_number() OVER in_order AS turn
    FROM changes
    LEFT JOIN judged ON changes.kind = 'image' AND coalesce(after_id, before_id) = ident
    LEFT JOIN ids
        ON coalesce(judged.text_id, split_part(coalesce(after_id, before_id), ' ', 1)) = ids.id
    WINDOW
        on_page AS (PARTITION BY ids.page_id),
        alike AS (PARTITION BY ids.page_id, changes.kind, changes.change),
        in_order AS (alike ORDER BY before_id ASC, after_id ASC)
),

ranked AS (
    SELECT
        *, dense_rank() OVER (PARTITION BY class ORDER BY total DESC, page_id ASC) AS place,
        row_number() OVER (
            PARTITION BY page_id ORDER BY turn ASC, kind ASC, change ASC
        ) AS nth
    FROM page_changes WHERE change <> 'unchanged' OR (total = 0 AND class = 'renamed')
)

SELECT *, max(place) OVER (PARTITION BY class) AS in_class FROM ranked
QUALIFY place <= $pages AND nth <= $items
ORDER BY class, place, list_position(['text', 'image', 'pair'], kind), before_id, after_id
