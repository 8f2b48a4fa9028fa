-- A row a section: what the model sees, and whether the section has a picture.
-- A line of a text is a paragraph, a list item or a table row; `listed` is the share of the lines
-- that are not paragraphs. `named_links` are those whose page the text names: those of captions,
-- which only sections with pictures have, are not among them.
-- `page_lists` is the share of a page's characters in sections that are mostly lists or tables,
-- `page_digits` that of digits in its title. A page belongs to the split of its judged texts, to
-- `test` before `validation`, and to `train` without any; hashes of its number say which part of
-- the training pages it is in (`fold`), and which are learned from if there are too many (`draw`).
-- ASSUME a page is a list if two thirds of its characters are in such sections, and a year if a
-- quarter of its title is digits, too; no paper says. Topics, where there are any, go before: the
-- most probable one, by the first of its names, Culture of Culture.Visual_arts.
-- A section is illustrated by a file that is a picture, and on at most $pages pages, or by one that
-- WIT saw in the text that this section is, by the projection. `uses` is made by
-- parse/wikitext/10_uses.sql.
WITH outlined AS (
    SELECT
        texts.text_id, texts.page_id, texts.language, texts.page_title, texts.split,
        outline.* EXCLUDE (text_id, page_id, language, links),
        coalesce(len(outline.links), 0)::INT AS links,
        if(
            texts.context_section_description = '', 0,
            len(string_split(texts.context_section_description, chr(10)))
        )::INT AS lines,
        coalesce(
            len(
                list_filter(
                    outline.links,
                    LAMBDA title: contains(lower(texts.context_section_description), lower(title))
                )
            ), 0
        )::INT AS named_links,
        least(1, (outline.list_items + outline.table_rows) / greatest(1, lines)) AS listed
    FROM texts INNER JOIN outline ON texts.text_id = outline.text_id
),

paged AS (
    SELECT
        *,
        (sum(characters) OVER page)::BIGINT AS page_characters,
        bool_or(has_infobox) OVER page AS page_infobox,
        (sum(if(listed >= 0.5, characters, 0)) OVER page) / greatest(1, page_characters)
            AS page_lists,
        min(len(regexp_replace(page_title, '\D', '', 'g')) / greatest(1, len(page_title))) OVER page
            AS page_digits,
        CASE
            WHEN bool_or(split = 'test') OVER page THEN 'test'
            WHEN bool_or(split = 'validation') OVER page THEN 'validation'
            ELSE 'train'
        END AS page_split,
        md5(concat_ws('-', language, page_id)) AS digest
    FROM outlined
    WINDOW page AS (PARTITION BY language, page_id)
),

predicted AS (
    UNPIVOT topics
    ON COLUMNS(* EXCLUDE (wiki_db, qid, pid, num_outlinks))
    INTO NAME topic VALUE probability
),

topical AS (
    SELECT
        wiki_db, pid::BIGINT AS page_id,
        split_part(arg_max(topic, (probability, topic)), '.', 1) AS page_class
    FROM predicted
    GROUP BY wiki_db, pid
),

pictures AS (
    SELECT text_id, language, page_id, file FROM uses WHERE reason IS NULL
),

shown AS (
    SELECT DISTINCT file, language, page_id FROM pictures
),

counted AS (
    SELECT file, count(*) AS pages FROM shown GROUP BY file
),

illustrated AS (
    SELECT pictures.text_id
    FROM pictures INNER JOIN counted ON pictures.file = counted.file
    WHERE counted.pages <= $pages
    UNION
    SELECT text_id FROM projected WHERE text_id IS NOT NULL
),

judged AS (
    SELECT DISTINCT text_id FROM qrels WHERE relevance > 0
)

SELECT
    paged.text_id, paged.page_id, paged.language, paged.split,
    CASE
        WHEN judged.text_id IS NOT NULL THEN 'judged'
        WHEN illustrated.text_id IS NOT NULL THEN 'illustrated'
        ELSE 'open'
    END AS role,
    CASE
        WHEN topical.page_class IS NOT NULL THEN topical.page_class
        WHEN paged.page_lists >= 2 / 3 AND paged.page_digits >= 0.25 THEN 'year'
        WHEN paged.page_lists >= 2 / 3 THEN 'list'
        ELSE 'article'
    END AS page_class,
    paged.heading, paged.place, paged.sections, paged.level,
    paged.characters, paged.list_items, paged.table_rows, paged."references",
    paged.links, paged.named_links, paged.lines, paged.has_infobox,
    paged.page_infobox, paged.page_characters, paged.page_lists, paged.page_digits,
    paged.page_split,
    (('0x' || paged.digest[1:8])::UBIGINT % $folds)::INT AS fold,
    ('0x' || paged.digest[9:16])::UBIGINT / 4294967296 AS draw
FROM paged
LEFT JOIN topical
    ON
        paged.page_id = topical.page_id
        AND replace(paged.language, '-', '_') || 'wiki' = topical.wiki_db
LEFT JOIN judged ON paged.text_id = judged.text_id
LEFT JOIN illustrated ON paged.text_id = illustrated.text_id
ORDER BY paged.text_id
