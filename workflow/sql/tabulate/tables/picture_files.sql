-- What became of every picture that came along; nobody asked a server for it. A folder may hold
-- pages and sounds as well: what is no picture and, by its name, is called none does not count.
SELECT
    status,
    count(*) AS pictures,
    round(count(*) / sum(count(*)) OVER (), 6) AS share,
    coalesce(sum(bytes), 0)::BIGINT AS bytes
FROM ledger
WHERE
    status <> 'not_an_image'
    OR NOT regexp_matches(image_url, '[.][a-z0-9]{1,5}$', 'i')
    OR regexp_matches(image_url, '[.](jpe?g|png|webp|gif|bmp|tiff?)$', 'i')
GROUP BY status
ORDER BY pictures DESC, status ASC
