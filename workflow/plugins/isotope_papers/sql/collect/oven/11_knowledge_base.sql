-- The knowledge base, by the keys of Wiki6M_ver_1_0 or by plain ones.
WITH parsed AS (
    SELECT file, row, line, CASE WHEN json_valid(line) THEN line::JSON END AS record
    FROM entities
    WHERE trim(line) <> ''
)

SELECT
    file, row, line, record IS NOT NULL AS valid,
    coalesce(record ->> '$.wikidata_id', record ->> '$.entity_id', record ->> '$.id') AS entity_id,
    nullif(trim(coalesce(
        record ->> '$.wikipedia_title', record ->> '$.title', record ->> '$.content'
    )), '') AS name,
    coalesce(record ->> '$.wikipedia_summary', record ->> '$.extract', '') AS description,
    record ->> '$.wikipedia_image_url' AS infobox_url,
    try_cast(record ->> '$.page_id' AS BIGINT) AS page_id,
    record ->> '$.topic' AS topic
FROM parsed
ORDER BY file, row
