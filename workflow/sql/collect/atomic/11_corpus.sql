-- Judgements come as lists, which may judge any text and image of the one corpus in every split, as
-- those of TREC judge topics of all splits.
SELECT 'shared' AS corpus
