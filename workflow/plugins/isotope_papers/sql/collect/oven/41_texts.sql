-- An entity is in the split of the questions that it answers; if several splits have such
-- questions, in `other`.
WITH judged AS (
    SELECT text_id, CASE WHEN count(DISTINCT split) = 1 THEN min(split) ELSE 'other' END AS split
    FROM qrels
    GROUP BY text_id
),

keyed AS (
    SELECT file, row, entity_id AS key FROM knowledge_base
    UNION ALL
    SELECT file, row, url_decode(regexp_extract(infobox_url, '[^/]+$')) AS key FROM knowledge_base
),

infoboxes AS (
    SELECT keyed.file, keyed.row, min(pictures.image_id) AS picture_id
    FROM keyed
    INNER JOIN pictures ON keyed.key = pictures.key AND pictures.status = 'success'
    GROUP BY keyed.file, keyed.row
)

SELECT
    regexp_replace(knowledge_base.entity_id, '\s', '_', 'g') AS text_id,
    knowledge_base.page_id,
    NULL::BIGINT AS revision_id,
    'https://www.wikidata.org/wiki/'
    || nullif(regexp_extract(knowledge_base.entity_id, '^Q\d+$'), '')
        AS page_url,
    knowledge_base.name AS page_title,
    NULL::VARCHAR AS section_title, NULL::VARCHAR AS hierarchy,
    knowledge_base.description AS context_page_description,
    NULL::VARCHAR AS context_section_description,
    $language AS language,
    list_filter([knowledge_base.topic], LAMBDA topic: topic IS NOT NULL) AS category,
    coalesce(judged.split, 'other') AS split,
    knowledge_base.entity_id AS source_text_id,
    infoboxes.picture_id
FROM knowledge_base
LEFT JOIN infoboxes ON knowledge_base.file = infoboxes.file AND knowledge_base.row = infoboxes.row
LEFT JOIN judged ON regexp_replace(knowledge_base.entity_id, '\s', '_', 'g') = judged.text_id
ANTI JOIN rejected ON knowledge_base.file = rejected.file AND knowledge_base.row = rejected.row
ORDER BY text_id
