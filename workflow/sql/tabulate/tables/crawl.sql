-- What became of every image URL.
SELECT
    status,
    count(*) AS urls,
    round(count(*) / sum(count(*)) OVER (), 6) AS share,
    sum(attempts)::BIGINT AS attempts,
    coalesce(sum(bytes), 0)::BIGINT AS bytes
FROM ledger
GROUP BY status
ORDER BY urls DESC, status ASC
