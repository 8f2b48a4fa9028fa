-- The likelihood ratio of what speaks for a pair: how often it does where two sections share a
-- picture, by how often where they don't. Each count is smoothed by $pages pairs as all pairs are.
WITH counted AS (
    SELECT
        evidence,
        count(*) AS pairs,
        count(*) FILTER (WHERE is_same) AS same
    FROM evidence
    WHERE teaches AND own_words <> '' AND words <> ''
    GROUP BY evidence
),

summed AS (
    SELECT
        sum(pairs) AS pairs,
        sum(same) AS same
    FROM counted
)

SELECT
    counted.evidence,
    ((counted.same + $pages * counted.pairs / summed.pairs) / (summed.same + $pages))
    / (
        (counted.pairs - counted.same + $pages * counted.pairs / summed.pairs)
        / (summed.pairs - summed.same + $pages)
    ) AS ratio
FROM counted CROSS JOIN summed
ORDER BY counted.evidence
