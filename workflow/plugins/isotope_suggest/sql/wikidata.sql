-- Pictures that Wikidata has of a section's page, and of the pages that it links to, the $depth
-- likeliest. A page's own picture is as likely in its lead as it is the page's; of the other
-- sections each is as likely to be the one that it shows. Every linked page with a picture is as
-- likely to be the one that the section is about.
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
),

depicted AS (
    SELECT
        *,
        1 / count(*) OVER (PARTITION BY language, page_id) AS share
    FROM named_pages
),

asking AS (
    SELECT
        asked.text_id,
        asked.language,
        asked.page_id,
        if(outlines.place = 0, 1, greatest(pages.sections, 1)) AS parts
    FROM asked
    INNER JOIN outlines ON asked.text_id = outlines.text_id
    INNER JOIN pages ON asked.language = pages.language AND asked.page_id = pages.page_id
),

linking AS (
    SELECT
        linked.text_id,
        linked.language,
        linked.page_id,
        count(*) OVER (PARTITION BY linked.text_id) AS parts
    FROM linked
    SEMI JOIN depicted
        ON linked.language = depicted.language AND linked.page_id = depicted.page_id
),

every AS (
    SELECT
        text_id,
        language,
        page_id,
        parts
    FROM asking
    UNION ALL
    SELECT
        text_id,
        language,
        page_id,
        parts
    FROM linking
),

pictures AS (
    SELECT
        every.text_id,
        depicted.image_id,
        depicted.item || ': ' || depicted.title AS named,
        depicted.share / every.parts AS share
    FROM every
    INNER JOIN depicted
        ON every.language = depicted.language AND every.page_id = depicted.page_id
),

combined AS (
    SELECT
        text_id,
        image_id,
        list(share ORDER BY share DESC, named ASC) AS shares,
        list(named ORDER BY share DESC, named ASC) AS wikidata_on
    FROM pictures
    GROUP BY text_id, image_id
),

scored AS (
    SELECT
        text_id,
        image_id,
        wikidata_on,
        any_of(shares) AS wikidata
    FROM combined
)

SELECT
    text_id,
    image_id,
    wikidata::FLOAT AS wikidata,
    wikidata_on
FROM scored
QUALIFY row_number() OVER (PARTITION BY text_id ORDER BY wikidata DESC, image_id ASC) <= $depth
ORDER BY text_id, image_id
