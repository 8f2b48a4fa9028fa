-- The pages whose item in Wikidata has pictures of the collection, each with its share.
WITH named_pages AS (
    SELECT DISTINCT
        titles.language,
        titles.page_id,
        titles.title,
        depictions.item,
        depictions.image_id
    FROM depictions
    INNER JOIN titles
        ON depictions.language = titles.language AND depictions.page_title = titles.link
)

SELECT
    *,
    1 / count(*) OVER (PARTITION BY language, page_id) AS share
FROM named_pages
ORDER BY language, page_id, image_id, item
