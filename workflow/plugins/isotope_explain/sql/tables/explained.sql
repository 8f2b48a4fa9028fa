-- Lymperaiou et al. (COLING 2022), Table 3 and "Global evaluation" of section 6.3: how wrong the
-- failures of each system are.
-- Of the non-common concepts of both pictures a share is matched (184,747 of 627,833, 29.43 %); the
-- enumeration disagreement of Table 3 counts concepts for each failure (69,595 of 28,817, 2.42).
-- ASSUME a mean is over the failures in which its measure is defined: the paper does not say what
-- CA is without concepts, NCS without a pair and SD without two boxes. The `pooled` ones are over
-- the whole, as section 6.3 reads too: "averaging over matchings", "1/5th of common objects".
WITH per_failure AS (
    SELECT
        *,
        len(list_filter(counts, LAMBDA c: c.truth <> c.found)) AS miscounted,
        list_sum(list_transform(pairs, LAMBDA p: p.similarity)) AS similarity,
        len(list_filter(sizes, LAMBDA s: s.differs)) AS differing
    FROM failures
),

enumerations AS (
    SELECT task, system, ce, count(*) AS failures
    FROM failures
    WHERE ce IS NOT NULL
    GROUP BY task, system, ce
),

most_common AS (
    SELECT task, system, arg_min(ce, (-failures, ce)) AS ce
    FROM enumerations
    GROUP BY task, system
)

SELECT
    own.task,
    own.system,
    count(*) AS failures,
    count(own.ca) AS explained,
    round(favg(own.ca), 6) AS ca_share,
    round(sum(own.hit) / nullif(sum(own.hit + own.miss), 0), 6) AS pooled_ca_share,
    round(favg(own.ncs), 6) AS ncs,
    round(fsum(own.similarity) / nullif(sum(len(own.pairs)), 0), 6) AS pooled_ncs,
    round(favg(own.ce), 6) AS ce,
    any_value(most_common.ce) AS ce_most_common,
    round(favg(own.sd), 6) AS sd_share,
    round(sum(own.differing) / nullif(sum(len(own.sizes)), 0), 6) AS pooled_sd_share,
    round(favg(own.sd_continuous), 6) AS sd_continuous,
    sum(own.hit)::BIGINT AS hit,
    sum(own.miss)::BIGINT AS miss,
    avg(own.hit) AS hit_per_failure,
    avg(own.miss) AS miss_per_failure,
    sum(own.miss + own.extra)::BIGINT AS non_common,
    sum(len(own.pairs))::BIGINT AS matched,
    sum(len(own.pairs)) / nullif(sum(own.miss + own.extra), 0) AS matched_synsets_share,
    sum(own.hit - own.miscounted)::BIGINT AS counted_alike,
    sum(own.miscounted)::BIGINT AS miscounted,
    avg(own.hit - own.miscounted) AS counted_alike_per_failure,
    avg(own.miscounted) AS miscounted_per_failure,
    sum(own.miscounted) / nullif(sum(own.hit), 0) AS enumeration_disagreement_share
FROM per_failure AS own
LEFT JOIN most_common ON own.task = most_common.task AND own.system = most_common.system
GROUP BY own.task, own.system
ORDER BY own.task DESC, ca_share DESC NULLS LAST, own.system ASC
