-- One row a text, an image and a judgement of either snapshot.
SELECT * FROM changed_texts
UNION ALL
SELECT * FROM changed_images
UNION ALL
SELECT * FROM changed_pairs
ORDER BY kind DESC, coalesce(before_id, after_id) ASC, after_id ASC
