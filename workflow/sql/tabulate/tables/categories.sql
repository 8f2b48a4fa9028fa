-- AToMiC (SIGIR 2023), Fig. 2 and section 4.2: what the pages are about, as shares of one whole:
-- the paper's add up to one. A page of several categories counts in each, one without any in none.
-- Topics are the columns of Wikimedia's bulk article-topic predictions, a probability each. Those
-- of the regions and of STEM are one category each, as in the paper; others have their own name.
-- ASSUME no further topics are joined: these are 32 of Wikimedia's 64 topics. The paper counts 34,
-- and its figure is the only list of them.
WITH pages AS (
    SELECT DISTINCT page_id, language || 'wiki' AS wiki_db FROM texts
),

predicted AS (
    UNPIVOT topics
    ON COLUMNS(* EXCLUDE (wiki_db, qid, pid, num_outlinks))
    INTO NAME topic VALUE probability
),

sure AS (
    SELECT pages.page_id, predicted.topic
    FROM pages INNER JOIN predicted
        ON pages.page_id = predicted.pid AND pages.wiki_db = predicted.wiki_db
    WHERE predicted.probability > $probability
),

categorised AS (
    SELECT DISTINCT
        page_id,
        CASE
            WHEN starts_with(topic, 'Geography.Regions.') THEN 'Regions'
            WHEN starts_with(topic, 'STEM.') THEN 'STEM'
            ELSE translate(rtrim(list_last(string_split(topic, '.')), '*'), '_', ' ')
        END AS category
    FROM sure
    UNION ALL
    SELECT page_id, 'none' AS category FROM pages
    WHERE page_id NOT IN (SELECT sure.page_id FROM sure)
),

shares AS (
    SELECT category, count(*) / sum(count(*)) OVER () AS share FROM categorised GROUP BY category
),

named AS (
    SELECT
        categorised.page_id,
        CASE
            WHEN shares.share < $tail AND category <> 'none' THEN 'others' ELSE category
        END AS label
    FROM categorised INNER JOIN shares USING (category)
)

SELECT
    label, count(*) AS categories, count(DISTINCT page_id) AS pages,
    round(count(*) / sum(count(*)) OVER (), 6) AS share
FROM named
GROUP BY label
ORDER BY label = 'none' ASC, label = 'others' ASC, count(*) DESC, label ASC
