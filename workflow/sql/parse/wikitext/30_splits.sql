-- A page that WIT knows keeps WIT's split, any other one has that of its number's hash, for ever.
WITH known AS (
    SELECT page_title, min(split) AS split
    FROM wit
    WHERE language = (SELECT min(sections.language) FROM sections)
    GROUP BY page_title
    HAVING count(DISTINCT split) = 1
),

hashed AS (
    SELECT
        page_id, page_title, ('0x' || md5(page_id::VARCHAR)[1:8])::UBIGINT / 4294967296 AS place
    FROM sections
    WHERE section = 0
)

SELECT
    hashed.page_id,
    CASE
        WHEN known.split IS NOT NULL THEN known.split
        WHEN hashed.place < $test THEN 'test'
        WHEN hashed.place < $test + $validation THEN 'validation'
        ELSE 'train'
    END AS split
FROM hashed LEFT JOIN known ON hashed.page_title = known.page_title
ORDER BY hashed.page_id
