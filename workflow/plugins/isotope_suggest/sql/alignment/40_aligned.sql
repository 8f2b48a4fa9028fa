-- Pictures of the aligned sections, the $depth likeliest: those of a page's sections that are the
-- same ones in other languages, by an estimated share.
--
-- On how many pages two headings stand beside each other, and on how many they share a picture
-- (`headings`); and the likelihood ratio of what speaks for a pair: how often it does where two
-- sections share a picture, by how often where they don't, each count smoothed by $pages pairs as
-- all pairs are (`weights`).
WITH by_page AS (
    SELECT
        language,
        other,
        own_words,
        words,
        page_id,
        bool_or(is_same) AS is_same
    FROM evidence
    WHERE teaches
    GROUP BY language, other, own_words, words, page_id
),

headings AS (
    SELECT
        language,
        other,
        own_words,
        words,
        count(*) AS pages,
        count(*) FILTER (WHERE is_same) AS same
    FROM by_page
    GROUP BY language, other, own_words, words
),

counted AS (
    SELECT
        evidence,
        count(*) AS pairs,
        count(*) FILTER (WHERE is_same) AS same
    FROM evidence
    WHERE teaches AND own_words <> '' AND words <> ''
    GROUP BY evidence
),

summed AS (
    SELECT
        sum(pairs) AS pairs,
        sum(same) AS same
    FROM counted
),

weights AS (
    SELECT
        counted.evidence,
        ((counted.same + $pages * counted.pairs / summed.pairs) / (summed.same + $pages))
        / (
            (counted.pairs - counted.same + $pages * counted.pairs / summed.pairs)
            / (summed.pairs - summed.same + $pages)
        ) AS ratio
    FROM counted CROSS JOIN summed
),

-- The estimated share in which a section of ours is the same as one of another language. The lead
-- is the lead. Others start from chance, one of the page's sections or none; what speaks for the
-- pair weighs that (Bayes' rule); and that counts for $pages pages beside those of the headings.
weighed AS (
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
),

-- What is no better than chance says nothing.
shares AS (
    SELECT
        text_id,
        other,
        title,
        heading,
        share
    FROM estimated
    WHERE share = 1 OR share > chance * (1 + 1e-9)
),

-- Of a language the likeliest section that shows a picture counts; languages are taken for
-- independent.
pictures AS (
    SELECT
        shares.text_id,
        elsewhere.image_id,
        shares.other,
        shares.share,
        shares.other
        || ': '
        || concat_ws(' # ', shares.title, nullif(shares.heading, '')) AS section
    FROM shares
    INNER JOIN elsewhere
        ON
            shares.other = elsewhere.language
            AND shares.title = elsewhere.title
            AND shares.heading = elsewhere.heading
    QUALIFY row_number() OVER (
        PARTITION BY shares.text_id, elsewhere.image_id, shares.other
        ORDER BY shares.share DESC, section ASC
    ) = 1
),

combined AS (
    SELECT
        text_id,
        image_id,
        list(share ORDER BY share DESC, section ASC) AS shares,
        list(section ORDER BY share DESC, section ASC) AS alignment_on
    FROM pictures
    GROUP BY text_id, image_id
),

scored AS (
    SELECT
        text_id,
        image_id,
        alignment_on,
        any_of(shares) AS alignment
    FROM combined
)

SELECT
    text_id,
    image_id,
    alignment::FLOAT AS alignment,
    alignment_on
FROM scored
QUALIFY row_number() OVER (PARTITION BY text_id ORDER BY alignment DESC, image_id ASC) <= $depth
ORDER BY text_id, image_id
