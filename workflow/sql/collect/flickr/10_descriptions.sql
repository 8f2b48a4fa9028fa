-- Captions, one a row: lines of tokens (`name#number`, a tab, the caption), rows of Flickr30k's
-- results.csv, one of which lacks a bar, or Karpathy's sentences where there are no tokens.
WITH token_lines AS (
    SELECT
        file,
        row,
        line,
        regexp_extract(line, '^(.+)#([0-9]+)\t(.*)$', ['name', 'number', 'caption']) AS tabbed,
        regexp_extract(
            line, '^([^|]+)[|] *([0-9]+) *[|]? *(.*)$', ['name', 'number', 'caption']
        ) AS barred
    FROM tokens
    WHERE trim(line) NOT IN ('', 'image_name| comment_number| comment')
),

token_captions AS (
    SELECT file, row, line, CASE WHEN tabbed.name <> '' THEN tabbed ELSE barred END AS item
    FROM token_lines
),

parsed AS MATERIALIZED (
    SELECT
        file,
        from_json(
            document -> 'images', '[{"filename":"VARCHAR","sentences":[{"raw":"VARCHAR"}]}]'
        ) AS items
    FROM karpathy
),

images AS (
    SELECT file, unnest(items) AS item, generate_subscripts(items, 1) AS row
    FROM parsed
    WHERE (SELECT count(*) FROM tokens) = 0
),

sentences AS (
    SELECT
        file,
        row,
        item.filename AS name,
        unnest(item.sentences).raw AS caption,
        generate_subscripts(item.sentences, 1) - 1 AS number
    FROM images
),

all_captions AS (
    SELECT
        file, row, line, nullif(item.name, '') AS name, try_cast(item.number AS BIGINT) AS number,
        item.caption
    FROM token_captions
    UNION ALL
    SELECT file, row, caption AS line, name, number, caption
    FROM sentences
)

SELECT
    *,
    trim(regexp_replace(coalesce(caption, ''), '\s+', ' ', 'g')) AS sentence,
    row_number() OVER (PARTITION BY name, number ORDER BY file, row) AS time
FROM all_captions
ORDER BY name, number, file, row
