-- What projection and each filter kept and dropped, in the order they were applied.
SELECT
    step,
    split,
    before,
    dropped,
    after
FROM filters
ORDER BY
    list_position(['projected', 'alive', 'canonical', 'one_split', 'union'], step) ASC,
    list_position(['train', 'validation', 'test', 'other'], split) ASC,
    before DESC, after DESC, step ASC, split ASC
