-- Each system as if it had not been pooled: its value, its place, and the judged documents that
-- no other system contributed to the pool.
SELECT
    task, measure, system, alone, round(value, 6) AS value, round(without, 6) AS without,
    round(value - without, 6) AS loss, place, place_without
FROM reuse
ORDER BY task DESC, measure ASC, place ASC, system ASC
