-- One value per query and measure on the graded judgements.
SELECT collection, setting, split, task, system, query_id, measure, value FROM files
