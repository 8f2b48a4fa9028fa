-- Two assessors on the failures that both have judged: the classes that they share, the ratings.
SELECT
    one.assessor,
    other.assessor AS other_assessor,
    count(*) AS failures,
    avg((list_sort(one.classes) = list_sort(other.classes))::INT) AS same_classes_share,
    avg(
        len(list_intersect(one.classes, other.classes))
        / nullif(len(list_distinct(one.classes || other.classes)), 0)
    ) AS common_classes_share,
    avg(abs(one.rating - other.rating)) AS rating_difference
FROM studied AS one
INNER JOIN studied AS other
    ON
        one.task = other.task AND one.system = other.system AND one.query_id = other.query_id
        AND one.assessor < other.assessor
GROUP BY one.assessor, other.assessor
ORDER BY one.assessor, other.assessor
