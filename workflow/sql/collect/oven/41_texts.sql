-- An entity is in the split of the questions that it answers; if several splits have such
-- questions, in `other`.
WITH judged AS (
    SELECT text_id, CASE WHEN count(DISTINCT split) = 1 THEN min(split) ELSE 'other' END AS split
    FROM qrels
    GROUP BY text_id
),

keyed AS (
    SELECT file, row, entity_id AS key FROM known
    UNION ALL
    SELECT file, row, url_decode(regexp_extract(infobox_url, '[^/]+$')) AS key FROM known
),

infoboxes AS (
    SELECT keyed.file, keyed.row, min(pictures.image_id) AS picture_id
    FROM keyed
    INNER JOIN pictures ON keyed.key = pictures.key AND pictures.status = 'success'
    GROUP BY keyed.file, keyed.row
)

SELECT
    regexp_replace(known.entity_id, '\s', '_', 'g') AS text_id,
    known.page_id,
    NULL::BIGINT AS revision_id,
    'https://www.wikidata.org/wiki/' || nullif(regexp_extract(known.entity_id, '^Q\d+$'), '')
        AS page_url,
    known.name AS page_title,
    NULL::VARCHAR AS section_title, NULL::VARCHAR AS hierarchy,
    known.description AS context_page_description,
    NULL::VARCHAR AS context_section_description,
    $language AS language,
    list_filter([known.topic], LAMBDA topic: topic IS NOT NULL) AS category,
    coalesce(judged.split, 'other') AS split,
    known.entity_id AS source_text_id,
    infoboxes.picture_id
FROM known
LEFT JOIN infoboxes ON known.file = infoboxes.file AND known.row = infoboxes.row
LEFT JOIN judged ON regexp_replace(known.entity_id, '\s', '_', 'g') = judged.text_id
ANTI JOIN rejected ON known.file = rejected.file AND known.row = rejected.row
ORDER BY text_id
