-- OVEN (ICCV 2023), Table 3: the percentage of queries whose entity comes first, for seen and
-- unseen entities of both subsets, their harmonic means, that of the two, and the human set.
WITH judged AS (
    SELECT scores.setting, scores.split, scores.system, scores.value, images.subset, images.seen
    FROM scores
    INNER JOIN images ON scores.query_id = images.image_id
    WHERE scores.task = 'm2t' AND scores.measure = 'Success@1'
),

means AS (
    SELECT
        setting, split, system, count(*) AS queries,
        100 * avg(value) FILTER (subset = 'entity' AND seen = 'seen') AS entity_seen,
        100 * avg(value) FILTER (subset = 'entity' AND seen = 'unseen') AS entity_unseen,
        100 * avg(value) FILTER (subset = 'query' AND seen = 'seen') AS query_seen,
        100 * avg(value) FILTER (subset = 'query' AND seen = 'unseen') AS query_unseen,
        100 * avg(value) FILTER (subset = 'human') AS human,
        100 * avg(value) AS every
    FROM judged
    GROUP BY setting, split, system
),

harmonic AS (
    SELECT
        *,
        2 / (1 / entity_seen + 1 / entity_unseen) AS entity_hm,
        2 / (1 / query_seen + 1 / query_unseen) AS query_hm
    FROM means
)

SELECT
    setting, split, system, queries,
    entity_seen AS score_entity_seen, entity_unseen AS score_entity_unseen,
    entity_hm AS score_entity_hm, query_seen AS score_query_seen,
    query_unseen AS score_query_unseen, query_hm AS score_query_hm,
    2 / (1 / entity_hm + 1 / query_hm) AS score_overall, human AS score_human, every AS score_all
FROM harmonic
ORDER BY setting ASC, split ASC, list_position(getvariable('systems'), system) ASC, system ASC
