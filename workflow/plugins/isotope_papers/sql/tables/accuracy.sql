-- OVEN (ICCV 2023), Tables 1 and 2: the percentage of questions whose entity comes first, for seen
-- and unseen entities of the entity, the query and the human set; the harmonic mean of the two (its
-- Equation 1), and `overall`, that of the entity and the query set. A question without an answer
-- counts as wrong; the official scorer (edchengg/oven_eval) leaves it out, as the second row of a
-- system with such questions does.
WITH judged AS (
    SELECT
        scores.setting, scores.split, scores.system, scores.value, images.subset, images.seen,
        answered.query_id IS NOT NULL AS is_answered,
        bool_and(answered.query_id IS NOT NULL) OVER (
            PARTITION BY scores.setting, scores.split, scores.system
        ) AS is_complete
    FROM scores
    INNER JOIN images ON scores.query_id = images.image_id
    LEFT JOIN answered
        ON
            scores.setting = answered.setting AND scores.split = answered.split
            AND scores.system = answered.system AND scores.query_id = answered.query_id
    WHERE scores.task = 'm2t' AND scores.measure = 'Success@1'
),

counted AS (
    SELECT 'count as wrong' AS unanswered, * FROM judged
    UNION ALL
    SELECT 'left out' AS unanswered, * FROM judged WHERE is_answered AND NOT is_complete
),

means AS (
    SELECT
        setting, split, system, unanswered, count(*) AS queries,
        round(100 * favg(value) FILTER (subset = 'entity' AND seen = 'seen'), 6) AS entity_seen,
        round(100 * favg(value) FILTER (subset = 'entity' AND seen = 'unseen'), 6) AS entity_unseen,
        round(100 * favg(value) FILTER (subset = 'query' AND seen = 'seen'), 6) AS query_seen,
        round(100 * favg(value) FILTER (subset = 'query' AND seen = 'unseen'), 6) AS query_unseen,
        round(100 * favg(value) FILTER (subset = 'human' AND seen = 'seen'), 6) AS human_seen,
        round(100 * favg(value) FILTER (subset = 'human' AND seen = 'unseen'), 6) AS human_unseen,
        round(100 * favg(value), 6) AS every
    FROM counted
    GROUP BY setting, split, system, unanswered
),

harmonic AS (
    SELECT
        *,
        2 / (1 / entity_seen + 1 / entity_unseen) AS entity_hm,
        2 / (1 / query_seen + 1 / query_unseen) AS query_hm,
        2 / (1 / human_seen + 1 / human_unseen) AS human_hm
    FROM means
)

SELECT
    setting, split, system, unanswered, queries,
    entity_seen AS score_entity_seen, entity_unseen AS score_entity_unseen,
    entity_hm AS score_entity_hm, query_seen AS score_query_seen,
    query_unseen AS score_query_unseen, query_hm AS score_query_hm,
    2 / (1 / entity_hm + 1 / query_hm) AS score_overall, human_seen AS score_human_seen,
    human_unseen AS score_human_unseen, human_hm AS score_human_hm, every AS score_all
FROM harmonic
ORDER BY
    setting ASC, split ASC, list_position(getvariable('systems'), system) ASC, system ASC,
    unanswered = 'left out' ASC
