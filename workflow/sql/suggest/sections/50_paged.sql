-- What a page is: `page_lists` is the share of its characters in sections that are mostly lists or
-- tables, `page_digits` that of digits in its title. A page belongs to the split of its judged
-- texts, to `test` before `validation`, and to `train` without any; hashes of its number say which
-- part of the training pages it is in (`fold`), and which are learned from if there are too many.
-- ASSUME a page is a list if two thirds of its characters are in such sections, and a year if a
-- quarter of its title is digits, too; no paper says. Topics, where there are any, go before.
WITH summed AS (
    SELECT
        language, page_id,
        sum(characters)::BIGINT AS page_characters, bool_or(has_infobox) AS page_infobox,
        sum(if(listed >= 0.5, characters, 0)) / greatest(1, sum(characters)) AS page_lists,
        min(len(regexp_replace(page_title, '\D', '', 'g')) / greatest(1, len(page_title)))
            AS page_digits,
        CASE
            WHEN bool_or(split = 'test') THEN 'test'
            WHEN bool_or(split = 'validation') THEN 'validation'
            ELSE 'train'
        END AS page_split,
        md5(concat_ws('-', language, page_id)) AS digest
    FROM outlined
    GROUP BY language, page_id
)

SELECT
    summed.* EXCLUDE (digest),
    (('0x' || summed.digest[1:8])::UBIGINT % $folds)::INT AS fold,
    ('0x' || summed.digest[9:16])::UBIGINT / 4294967296 AS draw,
    CASE
        WHEN topical.page_class IS NOT NULL THEN topical.page_class
        WHEN summed.page_lists >= 2 / 3 AND summed.page_digits >= 0.25 THEN 'year'
        WHEN summed.page_lists >= 2 / 3 THEN 'list'
        ELSE 'article'
    END AS page_class
FROM summed LEFT JOIN topical
    ON
        summed.page_id = topical.page_id
        AND replace(summed.language, '-', '_') || 'wiki' = topical.wiki_db
ORDER BY summed.language, summed.page_id
