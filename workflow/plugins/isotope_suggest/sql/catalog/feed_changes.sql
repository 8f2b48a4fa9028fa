-- New, withdrawn and taken up suggestions since the feed of an earlier snapshot.
SELECT
    parse_path(filename)[-4] AS collection,
    parse_path(filename)[-2] AS since,
    * EXCLUDE (filename)
FROM files
