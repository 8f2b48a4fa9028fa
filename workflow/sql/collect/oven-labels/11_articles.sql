-- The knowledge base: every article by its lead, with the picture of its infobox if it was crawled.
WITH crawled AS (
    SELECT
        knowledge_urls.image_id,
        replace(url_decode(regexp_extract(knowledge_urls.image_url, '[^/]+$')), '_', ' ') AS file
    FROM knowledge_urls
    INNER JOIN knowledge_ledger
        ON
            knowledge_urls.image_url = knowledge_ledger.image_url
            AND knowledge_ledger.status = 'success'
),

pictured AS (
    SELECT infoboxes.page_id, min(crawled.image_id) AS picture_id
    FROM infoboxes INNER JOIN crawled ON infoboxes.file = crawled.file
    GROUP BY infoboxes.page_id
)

SELECT sections.*, pictured.picture_id
FROM sections
LEFT JOIN pictured ON sections.page_id = pictured.page_id
WHERE sections.section = 0
ORDER BY sections.text_id
