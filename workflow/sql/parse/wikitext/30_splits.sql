-- A page of WIT has WIT's split, by whatever code WIT calls the language; the hash of its number
-- decides for any other page, alike in every run.
WITH wit_splits AS (
    SELECT page_title, min(split) AS split
    FROM wit
    WHERE is_spoken(language, (SELECT min(sections.language) FROM sections))
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
        WHEN wit_splits.split IS NOT NULL THEN wit_splits.split
        WHEN hashed.place < $test THEN 'test'
        WHEN hashed.place < $test + $validation THEN 'validation'
        ELSE 'train'
    END AS split
FROM hashed LEFT JOIN wit_splits ON hashed.page_title = wit_splits.page_title
ORDER BY hashed.page_id
