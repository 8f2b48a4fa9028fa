-- How many images stand under each licence.
SELECT
    licence,
    count(*) AS images
FROM attributions
GROUP BY licence
ORDER BY licence
