-- What speaks for a pair: headings of the same words, and how many links the sections share.
SELECT
    pairs.* EXCLUDE (foreign_id),
    concat_ws(
        ' ',
        if(pairs.words = pairs.own_words, 'same words', 'other words'),
        CASE
            WHEN shared_links.shared IS NULL THEN 'links unknown'
            WHEN shared_links.shared > 2 THEN '3 links'
            ELSE shared_links.shared || ' links'
        END
    ) AS evidence
FROM pairs
LEFT JOIN shared_links
    ON pairs.text_id = shared_links.text_id AND pairs.foreign_id = shared_links.foreign_id
ORDER BY pairs.text_id, pairs.other, pairs.title, pairs.heading
