-- OVEN (ICCV 2023), Fig. 5: one measure on nested random subsets of the pool, same queries. The
-- points of AToMiC's Fig. 5 are the settings: `corpus_size`.
-- `exact_share` is the share of queries whose value is certain; the others count as they stand.
SELECT
    task, system, documents, queries, round(value, 6) AS value, round(exact, 6) AS exact_share
FROM subsets
WHERE split = $split AND measure = $measure
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC, documents ASC
