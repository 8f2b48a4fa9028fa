-- One value per query and measure on a model's grades.
SELECT * EXCLUDE (filename) FROM files
