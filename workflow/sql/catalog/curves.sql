-- The learning curve of every model trained on a collection.
SELECT
    parse_path(filename)[-3] AS collection,
    parse_path(filename)[-2] AS model,
    * EXCLUDE (filename)
FROM files
