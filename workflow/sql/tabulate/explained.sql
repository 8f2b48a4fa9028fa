-- Lymperaiou et al. (COLING 2022), Table 3: how wrong the failures of each system are.
-- ASSUME a mean is over the failures in which its measure is defined.
WITH per_failure AS (
    SELECT
        *,
        len(list_filter(counts, LAMBDA c: c.truth <> c.found)) AS miscounted
    FROM failures
)

SELECT
    task,
    system,
    count(*) AS failures,
    count(ca) AS explained,
    avg(ca) AS ca_share,
    avg(ncs) AS ncs,
    avg(ce) AS ce,
    avg(sd) AS sd_share,
    avg(hit) AS hit,
    avg(miss) AS miss,
    sum(len(pairs)) / nullif(sum(miss), 0) AS matched_synsets_share,
    sum(miscounted) / nullif(sum(hit), 0) AS enumeration_disagreement_share
FROM per_failure
GROUP BY task, system
ORDER BY task DESC, ca_share DESC NULLS LAST, system ASC
