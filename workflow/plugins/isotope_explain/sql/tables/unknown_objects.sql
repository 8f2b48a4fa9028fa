-- Objects that could not be used, by reason and synset.
SELECT reason, detail, count(*) AS objects
FROM rejected
GROUP BY reason, detail
ORDER BY reason ASC, objects DESC, detail ASC
