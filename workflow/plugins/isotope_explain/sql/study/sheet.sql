-- Failures for people to judge: equally many of each system and task, drawn by the hash of seed and
-- query, in an order that does not reveal the system. A query that is a text shares words with the
-- captions of its right picture (Lymperaiou et al., COLING 2022, section 4.2: keyword matching).
-- ASSUME a keyword has three letters and is none of these: the paper does not say how it matches.
WITH stop_words AS (
    SELECT
        string_split(
            'and are for from has have her his into its not off onto out over some that the their'
            || ' them there they this two was were while who with', ' '
        ) AS words
),

candidates AS (
    SELECT
        failures.*,
        truth_images.image_url AS truth_url,
        texts.text_id IS NOT NULL AS is_text,
        coalesce(texts.context_section_description, texts.page_title, '') AS query,
        coalesce(array_to_string(truth_images.caption_reference_description, ' '), '') AS captions
    FROM failures
    INNER JOIN images AS truth_images ON failures.truth_id = truth_images.image_id
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
            LAMBDA word: NOT list_contains(stop_words.words, word)
        )) AS common_words
    FROM candidates CROSS JOIN stop_words
),

picks AS (
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
    picks.lot,
    picks.task,
    picks.system,
    picks.query_id,
    picks.truth_id,
    picks.found_id,
    picks.query,
    picks.truth_url,
    found_images.image_url AS found_url,
    NULL::VARCHAR AS classes,
    NULL::INTEGER AS rating,
    NULL::VARCHAR AS assessor
FROM picks INNER JOIN images AS found_images ON picks.found_id = found_images.image_id
WHERE picks.place <= $failures
ORDER BY picks.lot
