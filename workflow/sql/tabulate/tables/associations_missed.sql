-- Pictures that only WIT or only the snapshot has, and the reason where there is one.
WITH named AS (
    SELECT DISTINCT
        page_title,
        coalesce(nullif(section_title, ''), 'Introduction') AS section,
        replace(url_decode(regexp_extract(image_url, '[^/]+$')), '_', ' ') AS file,
        file = 'wikitext' AS is_own
    FROM associations
    WHERE is_spoken(language, $language)
),

pages AS (
    SELECT DISTINCT page_title FROM named
    WHERE NOT is_own AND page_title IN (SELECT sections.page_title FROM sections)
),

left_out AS (
    SELECT split_part(raw, ' / ', 1) AS page_title, detail AS file, min(reason) AS reason
    FROM rejected
    WHERE file = 'wikitext'
    GROUP BY ALL
),

alone AS (
    SELECT * FROM named
    WHERE page_title IN (SELECT pages.page_title FROM pages)
    QUALIFY count(*) OVER (PARTITION BY page_title, section, file) = 1
)

SELECT
    if(alone.is_own, 'only dump', 'only WIT') AS found_by, alone.page_title, alone.section,
    alone.file,
    CASE
        WHEN other.file IS NOT NULL THEN 'in another section'
        WHEN left_out.reason IS NOT NULL THEN 'left out: ' || left_out.reason
        WHEN regexp_matches(alone.file, '^(lossy-)?(page\d+-)?\d+px-') THEN 'a thumbnail''s address'
        WHEN alone.is_own THEN 'not in WIT'
        ELSE 'not in the wikitext of the page'
    END AS reason
FROM alone
LEFT JOIN named AS other
    ON
        alone.page_title = other.page_title AND alone.file = other.file
        AND alone.is_own <> other.is_own
LEFT JOIN left_out ON alone.page_title = left_out.page_title AND alone.file = left_out.file
QUALIFY row_number() OVER (PARTITION BY alone.page_title, alone.section, alone.file) = 1
ORDER BY found_by, alone.page_title, alone.section, alone.file
