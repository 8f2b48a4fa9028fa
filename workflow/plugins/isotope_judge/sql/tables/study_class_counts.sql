-- In how many classes the pictures of a failure disagree: the share of judgements that name one,
-- two, three and so on (Lymperaiou et al., COLING 2022, section 6.3 and Figure 10). As there, the
-- alternative counts as a class: 82.52, 14.56 and 2.91 % of one, two and three give 1.20 classes a
-- judgement, which is the sum of Table 2 with its alternatives and without its size.
SELECT
    task,
    system,
    len(classes) AS classes,
    count(*) AS judgements,
    count(*) / sum(count(*)) OVER (PARTITION BY task, system) AS judgements_share
FROM studied
GROUP BY task, system, len(classes)
ORDER BY
    task DESC, list_position(getvariable('systems'), system) ASC, system ASC, classes ASC
