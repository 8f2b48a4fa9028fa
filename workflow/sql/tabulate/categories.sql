-- AToMiC (SIGIR 2023), Fig. 2: pages by predicted topic; a page may have several, or none.
-- Topics are the columns of Wikimedia's bulk article-topic predictions, a probability each.
WITH pages AS (
    SELECT DISTINCT page_id, language || 'wiki' AS wiki_db FROM texts
),

predicted AS (
    UNPIVOT topics
    ON COLUMNS(* EXCLUDE (wiki_db, qid, pid, num_outlinks))
    INTO NAME topic VALUE probability
),

found AS (
    SELECT DISTINCT pages.page_id, predicted.topic
    FROM pages INNER JOIN predicted
        ON pages.page_id = predicted.pid AND pages.wiki_db = predicted.wiki_db
    WHERE predicted.probability > $probability
),

counted AS (
    SELECT topic, count(*) AS pages FROM found GROUP BY topic
),

shares AS (
    SELECT topic, pages / (SELECT count(*) FROM pages) AS share FROM counted
),

named AS (
    SELECT found.page_id, CASE WHEN shares.share < $tail THEN 'others' ELSE found.topic END AS label
    FROM found INNER JOIN shares USING (topic)
    UNION
    SELECT page_id, 'none' AS label FROM pages
    WHERE page_id NOT IN (SELECT page_id FROM found)
)

SELECT
    label, count(DISTINCT page_id) AS pages,
    round(count(DISTINCT page_id) / (SELECT count(*) FROM pages), 6) AS share
FROM named
GROUP BY label
ORDER BY label = 'none' ASC, label = 'others' ASC, pages DESC, label ASC
