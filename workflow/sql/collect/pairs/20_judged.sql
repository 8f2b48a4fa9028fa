-- Every pair, and why it is not used: its picture is not there, or, unless splits share the corpus,
-- its picture or text is in pairs of two splits. Two names of one picture may say the same pair
-- twice. Where one of several texts asks, a picture needs two; where five do, more are left.
WITH placed AS (
    SELECT
        pairs.file,
        pairs.row,
        pairs.nth,
        pairs.image_url AS name,
        pairs.text_id,
        pairs.text,
        pairs.language,
        pairs.split,
        pairs.relevance,
        pairs.number,
        located.image_id,
        located.problem,
        row_number() OVER (
            PARTITION BY
                located.image_id,
                pairs.text_id,
                if((SELECT corpus FROM corpus) = 'shared', pairs.split, NULL)
            ORDER BY pairs.file, pairs.row, pairs.nth
        ) AS time
    FROM pairs INNER JOIN located ON pairs.image_url = located.name
    WHERE pairs.text_id IS NOT NULL
),

image_splits AS (
    SELECT image_id, list(DISTINCT split ORDER BY split) AS splits
    FROM placed
    WHERE problem IS NULL AND (SELECT corpus FROM corpus) = 'split'
    GROUP BY image_id
),

text_splits AS (
    SELECT text_id, list(DISTINCT split ORDER BY split) AS splits
    FROM placed
    WHERE problem IS NULL AND (SELECT corpus FROM corpus) = 'split'
    GROUP BY text_id
),

checked AS (
    SELECT
        placed.*,
        CASE
            WHEN placed.problem IS NOT NULL THEN placed.problem
            WHEN len(image_splits.splits) > 1 THEN 'mixed_splits'
            WHEN len(text_splits.splits) > 1 THEN 'mixed_splits'
            WHEN placed.time > 1 THEN 'repeated_pair'
        END AS fault,
        CASE
            WHEN placed.problem IS NOT NULL THEN placed.name
            WHEN len(image_splits.splits) > 1 THEN placed.name
            ELSE placed.text_id
        END AS detail
    FROM placed
    LEFT JOIN image_splits ON placed.image_id = image_splits.image_id
    LEFT JOIN text_splits ON placed.text_id = text_splits.text_id
),

counted AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY image_id, fault IS NULL) AS texts,
        row_number() OVER (
            PARTITION BY image_id, fault IS NULL ORDER BY number, file, row, nth
        ) AS place
    FROM checked
)

SELECT
    * EXCLUDE (fault, texts, place),
    CASE
        WHEN fault IS NOT NULL THEN fault
        WHEN $texts = 'first-of-several' AND texts < 2 THEN 'too_few_captions'
        WHEN $texts = 'five' AND place > 5 THEN 'beyond_five'
    END AS reason
FROM counted
ORDER BY file, row, nth
