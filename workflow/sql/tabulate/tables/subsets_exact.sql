-- The points of `subsets` that are exact for every query.
SELECT task, system, '' AS setting, documents, round(value, 6) AS value
FROM subsets
WHERE split = $split AND measure = $measure AND exact = 1
ORDER BY task DESC, list_position(getvariable('systems'), system) ASC, system ASC, documents ASC
