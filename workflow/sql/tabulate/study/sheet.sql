-- Failures for people to judge: as many of each system and task, drawn by the hash of seed and
-- query, in an order that tells nothing of the system. Where a text asks, it shares words with the
-- captions of its right picture (Lymperaiou et al., COLING 2022, section 4.2: keyword matching).
-- ASSUME a keyword has three letters and is none of these: the paper does not say how it matches.
WITH little AS (
    SELECT
        string_split(
            'and are for from has have her his into its not off onto out over some that the their'
            || ' them there they this two was were while who with', ' '
        ) AS words
),

candidates AS (
    SELECT
        failures.*,
        truths.image_url AS truth_url,
        texts.text_id IS NOT NULL AS is_text,
        coalesce(texts.context_section_description, texts.page_title, '') AS query,
        coalesce(array_to_string(truths.caption_reference_description, ' '), '') AS captions
    FROM failures
    INNER JOIN images AS truths ON failures.truth_id = truths.image_id
    LEFT JOIN texts ON failures.query_id = texts.text_id
    WHERE failures.found_id IS NOT NULL
),

matched AS (
    SELECT
        candidates.*,
        len(list_filter(
            list_intersect(
                regexp_extract_all(lower(candidates.query), '\p{L}{3,}'),
                regexp_extract_all(lower(candidates.captions), '\p{L}{3,}')
            ),
            LAMBDA word: NOT list_contains(little.words, word)
        )) AS common_words
    FROM candidates CROSS JOIN little
),

drawn AS (
    SELECT
        *,
        md5($seed::VARCHAR || '/' || task || '/' || system || '/' || query_id) AS lot,
        row_number() OVER (
            PARTITION BY task, system
            ORDER BY md5($seed::VARCHAR || '/' || task || '/' || query_id), query_id
        ) AS place
    FROM matched
    WHERE NOT is_text OR common_words >= $common_words
)

SELECT
    drawn.lot,
    drawn.task,
    drawn.system,
    drawn.query_id,
    drawn.truth_id,
    drawn.found_id,
    drawn.query,
    drawn.truth_url,
    founds.image_url AS found_url,
    NULL::VARCHAR AS classes,
    NULL::INTEGER AS rating,
    NULL::VARCHAR AS assessor
FROM drawn INNER JOIN images AS founds ON drawn.found_id = founds.image_id
WHERE drawn.place <= $failures
ORDER BY drawn.lot
