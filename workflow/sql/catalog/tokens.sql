-- Tokens of every field of every text and image, by tokenizer.
SELECT parse_path(filename)[-2] AS collection, * EXCLUDE (filename) FROM files
