-- Pictures of the aligned sections, the $depth likeliest. Of a language the likeliest section that
-- shows one counts; languages are taken for independent.
WITH pictures AS (
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
