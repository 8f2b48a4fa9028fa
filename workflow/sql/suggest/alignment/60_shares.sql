-- The estimated share in which a section of ours is the same as one of another language. The lead
-- is the lead. Others start from chance, one of the page's sections or none; what speaks for the
-- pair weighs that (Bayes' rule); and that counts for $pages pages beside those of the headings.
WITH weighed AS (
    SELECT
        e.text_id,
        e.other,
        e.title,
        e.heading,
        e.own_words = '' AS is_own_lead,
        e.words = '' AS is_lead,
        -- Of the other sections, or none; and where one of the two is a lead, of the leads too.
        1 / (pages.sections + if(is_own_lead = is_lead, 1, 2)) AS chance,
        coalesce(weights.ratio, 1) / pages.sections AS odds,
        coalesce(headings.pages, 0) AS pages,
        coalesce(headings.same, 0) AS same
    FROM evidence AS e
    INNER JOIN pages ON e.language = pages.language AND e.page_id = pages.page_id
    LEFT JOIN weights ON e.evidence = weights.evidence
    LEFT JOIN headings
        ON
            e.language = headings.language
            AND e.other = headings.other
            AND e.own_words = headings.own_words
            AND e.words = headings.words
    WHERE e.is_asked
),

estimated AS (
    SELECT
        text_id,
        other,
        title,
        heading,
        chance,
        CASE
            WHEN is_own_lead AND is_lead THEN 1
            WHEN is_own_lead OR is_lead THEN same / (pages + $pages)
            ELSE (same + $pages * odds / (1 + odds)) / (pages + $pages)
        END AS share
    FROM weighed
)

-- What is no better than chance says nothing.
SELECT
    text_id,
    other,
    title,
    heading,
    share
FROM estimated
WHERE share = 1 OR share > chance * (1 + 1e-9)
ORDER BY text_id, other, title, heading
