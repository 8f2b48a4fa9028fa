-- The most probable topic of a page, by the first of its names: Culture of Culture.Visual_arts.
WITH predicted AS (
    UNPIVOT topics
    ON COLUMNS(* EXCLUDE (wiki_db, qid, pid, num_outlinks))
    INTO NAME topic VALUE probability
)

SELECT
    wiki_db, pid::BIGINT AS page_id,
    split_part(arg_max(topic, (probability, topic)), '.', 1) AS page_class
FROM predicted
GROUP BY wiki_db, pid
ORDER BY wiki_db, pid
