-- Crossmodal-3600: CIDEr of models' captions against people's, in each language, and the mean of
-- each part of a group, every language weighing alike; of a model with captions in all of them.
WITH per_language AS (
    SELECT language, captioner, count(*) AS images, favg(cider) AS cider
    FROM captioners
    GROUP BY language, captioner
),

parts AS (
    SELECT
        generate_subscripts($parts::VARCHAR[], 1) AS place,
        unnest($parts::VARCHAR[]) AS part,
        unnest($members::VARCHAR[][]) AS members
),

rows AS (
    SELECT 0 AS place, language, 1 AS languages, captioner, images, cider FROM per_language
    UNION ALL
    SELECT
        parts.place, parts.part AS language, count(*) AS languages, per_language.captioner,
        sum(per_language.images) AS images, favg(per_language.cider) AS cider
    FROM parts INNER JOIN per_language ON list_contains(parts.members, per_language.language)
    GROUP BY parts.place, parts.part, parts.members, per_language.captioner
    HAVING count(*) = len(parts.members)
)

SELECT language, languages, captioner, images::BIGINT AS images, round(cider, 6) AS cider
FROM rows
ORDER BY
    place ASC, language ASC, list_position(getvariable('systems'), captioner) ASC, captioner ASC
