-- Which section of the later snapshot is which one of the earlier, and the method of matching.
SELECT * FROM same
UNION ALL
SELECT * FROM moved
UNION ALL
SELECT * FROM alike
UNION ALL
SELECT * FROM renamed
ORDER BY before_id
