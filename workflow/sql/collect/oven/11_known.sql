-- The knowledge base, by the keys of Wiki6M_ver_1_0 or by plain ones.
WITH parsed AS (
    SELECT file, row, line, CASE WHEN json_valid(line) THEN line::JSON END AS given
    FROM entities
    WHERE trim(line) <> ''
)

SELECT
    file, row, line, given IS NOT NULL AS valid,
    coalesce(given ->> '$.wikidata_id', given ->> '$.entity_id', given ->> '$.id') AS entity_id,
    nullif(trim(coalesce(
        given ->> '$.wikipedia_title', given ->> '$.title', given ->> '$.content'
    )), '') AS name,
    coalesce(given ->> '$.wikipedia_summary', given ->> '$.extract', '') AS description,
    given ->> '$.wikipedia_image_url' AS infobox_url,
    try_cast(given ->> '$.page_id' AS BIGINT) AS page_id,
    given ->> '$.topic' AS topic
FROM parsed
ORDER BY file, row
