-- Whether splits share one corpus. Judgement lists, as BEIR publishes them, name texts by their ids
-- alone; a collection that is split by picture has rows that say what they are about.
SELECT
    coalesce(
        $corpus, if(coalesce(bool_and(pairs.text IS NULL), FALSE), 'shared', 'split')
    ) AS corpus
FROM pairs
WHERE pairs.image_url IS NOT NULL AND pairs.text_id IS NOT NULL
