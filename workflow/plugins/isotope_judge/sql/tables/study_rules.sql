-- Rules between classes of failure: who names these also names that (Agrawal et al., SIGMOD 1993).
-- Support is the share of judgements with all of them, confidence that among those with the first.
-- The percentages that Lymperaiou et al. (COLING 2022, section 6.3) print at their rules, 54.37 %,
-- 17.48 % and 11.65 %, are those of the conclusion alone in its Table 2: conclusion_share.
WITH judgements AS (
    SELECT row_number() OVER (ORDER BY task, system, query_id, assessor) AS id, classes FROM studied
),

named AS (
    SELECT DISTINCT id, unnest(classes) AS class FROM judgements
),

premises AS (
    SELECT id, [class] AS premise FROM named
    UNION ALL
    SELECT one.id, [one.class, other.class] AS premise
    FROM named AS one INNER JOIN named AS other ON one.id = other.id AND one.class < other.class
),

frequent AS (
    SELECT premise, count(*) AS judgements FROM premises GROUP BY premise
),

joint AS (
    SELECT premises.premise, named.class AS conclusion, count(*) AS judgements
    FROM premises INNER JOIN named ON premises.id = named.id
    WHERE NOT list_contains(premises.premise, named.class)
    GROUP BY premises.premise, named.class
)

SELECT
    array_to_string(joint.premise, ' and ') AS premise,
    joint.conclusion,
    joint.judgements,
    joint.judgements / (SELECT count(*) FROM judgements) AS support_share,
    joint.judgements / frequent.judgements AS confidence_share,
    concluded.judgements / (SELECT count(*) FROM judgements) AS conclusion_share
FROM joint
INNER JOIN frequent ON joint.premise = frequent.premise
INNER JOIN frequent AS concluded ON concluded.premise = [joint.conclusion]
WHERE support_share >= $support AND confidence_share >= $confidence
ORDER BY confidence_share DESC, support_share DESC, joint.premise ASC, joint.conclusion ASC
