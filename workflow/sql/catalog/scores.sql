-- One value per collection, setting, split, task, system, query and measure.
SELECT collection, setting, split, task, system, query_id, measure, value FROM files
