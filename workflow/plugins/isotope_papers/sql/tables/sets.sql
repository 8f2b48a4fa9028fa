-- OVEN (ICCV 2023), Fig. 3 (right): examples, and what asks and answers them, of the four sets. An
-- example is seen or unseen as its entity is. A set whose answers are withheld has no entities.
WITH questions AS (
    SELECT
        CASE WHEN images.subset = 'human' THEN 'human' ELSE images.split END AS named,
        images.image_id, images.question, images.seen, qrels.text_id
    FROM images
    LEFT JOIN qrels ON images.image_id = qrels.image_id AND qrels.relevance > 0
),

counted AS (
    SELECT
        named, count(DISTINCT question) AS unique_queries,
        count(text_id) AS judged,
        count(DISTINCT text_id) FILTER (seen = 'seen') AS seen_entities,
        count(DISTINCT image_id) FILTER (seen = 'seen') AS seen_examples,
        count(DISTINCT text_id) FILTER (seen = 'unseen') AS unseen_entities,
        count(DISTINCT image_id) FILTER (seen = 'unseen') AS unseen_examples,
        count(DISTINCT image_id) AS examples
    FROM questions
    GROUP BY named
)

SELECT
    named AS examples_of, unique_queries,
    CASE WHEN judged > 0 THEN seen_entities END AS seen_entities, seen_examples,
    CASE WHEN judged > 0 THEN unseen_entities END AS unseen_entities, unseen_examples, examples
FROM counted
ORDER BY list_position(['train', 'validation', 'test', 'human'], named)
