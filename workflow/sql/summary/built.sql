-- What each collection has: texts, images, judgements, and the systems and pools of its runs.
WITH counted AS (
    SELECT collection, 1 AS texts, 0 AS images, 0 AS judgements FROM texts
    UNION ALL
    SELECT collection, 0 AS texts, 1 AS images, 0 AS judgements FROM images
    UNION ALL
    SELECT collection, 0 AS texts, 0 AS images, 1 AS judgements FROM qrels
),

collections AS (
    SELECT
        collection,
        sum(texts)::BIGINT AS texts,
        sum(images)::BIGINT AS images,
        sum(judgements)::BIGINT AS judgements
    FROM counted
    GROUP BY collection
),

-- By their paths: reading all hits of all systems would take minutes.
ran AS (
    SELECT
        parse_path(file)[-5] AS collection,
        count(DISTINCT parse_path(file)[-1]) AS systems,
        count(DISTINCT parse_path(file)[-4]) AS pools
    FROM glob($runs)
    GROUP BY parse_path(file)[-5]
)

SELECT
    collections.collection AS name,
    collections.texts,
    collections.images,
    collections.judgements,
    coalesce(ran.systems, 0) AS systems,
    coalesce(ran.pools, 0) AS pools
FROM collections
LEFT JOIN ran ON collections.collection = ran.collection
ORDER BY collections.collection
