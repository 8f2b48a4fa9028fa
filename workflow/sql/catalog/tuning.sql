-- Every point of every grid that a fusion was tuned on, and which was chosen.
SELECT * EXCLUDE (filename) FROM files
