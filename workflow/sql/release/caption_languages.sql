-- In how many images each language has captions.
WITH pairs AS (
    SELECT DISTINCT image_id, unnest(language) AS language FROM images
)

SELECT language, count(*) AS images
FROM pairs
WHERE language IS NOT NULL
GROUP BY language
ORDER BY images DESC, language ASC
