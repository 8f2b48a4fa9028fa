-- The knowledge base: every article by its lead, with the picture of its infobox if it was crawled.
WITH crawled_files AS (
    SELECT
        knowledge_urls.image_id,
        replace(url_decode(regexp_extract(knowledge_urls.image_url, '[^/]+$')), '_', ' ') AS file
    FROM knowledge_urls
    INNER JOIN knowledge_ledger
        ON
            knowledge_urls.image_url = knowledge_ledger.image_url
            AND knowledge_ledger.status = 'success'
),

article_pictures AS (
    SELECT infoboxes.page_id, min(crawled_files.image_id) AS picture_id
    FROM infoboxes INNER JOIN crawled_files ON infoboxes.file = crawled_files.file
    GROUP BY infoboxes.page_id
)

SELECT sections.*, article_pictures.picture_id
FROM sections
LEFT JOIN article_pictures ON sections.page_id = article_pictures.page_id
WHERE sections.section = 0
ORDER BY sections.text_id
