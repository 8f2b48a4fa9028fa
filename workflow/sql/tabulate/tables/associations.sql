-- Pictures of articles that both WIT and the snapshot have: found by both, or by one of them.
WITH named AS (
    SELECT DISTINCT
        page_title,
        coalesce(nullif(section_title, ''), 'Introduction') AS section,
        replace(url_decode(regexp_extract(image_url, '[^/]+$')), '_', ' ') AS file,
        file = 'wikitext' AS is_own
    FROM associations
    WHERE is_spoken(language, $language)
),

wit_pictures AS (
    SELECT * FROM named WHERE NOT is_own
),

dump_pictures AS (
    SELECT * FROM named WHERE is_own
),

paired AS (
    SELECT
        coalesce(wit_pictures.section, dump_pictures.section) AS section,
        wit_pictures.file IS NOT NULL AS in_wit,
        dump_pictures.file IS NOT NULL AS in_dump
    FROM wit_pictures
    FULL JOIN dump_pictures USING (page_title, section, file)
    WHERE
        page_title IN (SELECT n.page_title FROM named AS n WHERE NOT n.is_own)
        AND page_title IN (SELECT s.page_title FROM sections AS s)
)

SELECT
    coalesce(section, 'all sections') AS section,
    count(*) FILTER (in_wit AND in_dump) AS found_by_both,
    count(*) FILTER (NOT in_dump) AS only_in_wit,
    count(*) FILTER (NOT in_wit) AS only_in_dump,
    count(*) FILTER (in_wit AND in_dump) / nullif(count(*) FILTER (in_dump), 0) AS precision_share,
    count(*) FILTER (in_wit AND in_dump) / nullif(count(*) FILTER (in_wit), 0) AS recall_share
FROM paired
GROUP BY GROUPING SETS ((), (section))
ORDER BY grouping(section) DESC, count(*) DESC, section
LIMIT $sections
