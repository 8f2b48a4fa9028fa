-- What became of every picture that came along; nobody asked a server for it.
SELECT
    status,
    count(*) AS pictures,
    round(count(*) / sum(count(*)) OVER (), 6) AS share,
    coalesce(sum(bytes), 0)::BIGINT AS bytes
FROM ledger
GROUP BY status
ORDER BY pictures DESC, status ASC
