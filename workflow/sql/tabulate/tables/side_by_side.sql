-- Crossmodal-3600: people's choices between the captions of two models in each language, and the
-- difference in CIDEr over all the pictures that the models describe.
WITH means AS (
    SELECT language, captioner, favg(cider) AS cider FROM captioners GROUP BY language, captioner
),

compared AS (
    SELECT
        language, first, second, count(*) AS images,
        count(*) FILTER (WHERE preference = 1) AS wins,
        count(*) FILTER (WHERE preference = -1) AS losses
    FROM side_by_side
    GROUP BY language, first, second
)

SELECT
    compared.language, compared.first, compared.second, compared.images,
    compared.wins / compared.images AS first_share,
    compared.losses / compared.images AS second_share,
    (compared.wins - compared.losses) / compared.images AS gain_share,
    round(of_first.cider - of_second.cider, 6) AS cider_difference
FROM compared
INNER JOIN means AS of_first
    ON compared.language = of_first.language AND compared.first = of_first.captioner
INNER JOIN means AS of_second
    ON compared.language = of_second.language AND compared.second = of_second.captioner
ORDER BY
    list_position(getvariable('systems'), compared.first),
    list_position(getvariable('systems'), compared.second), compared.language
