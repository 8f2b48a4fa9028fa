-- Which judgement of a pair counts where several lists judge it in one split: that of a list with
-- grades, as people give them, before a list that names what belongs together; then the greater.
WITH lists AS (
    SELECT file, bool_or(relevance <> 1) AS has_grades FROM judgements GROUP BY file
)

SELECT
    judged.*,
    row_number() OVER (
        PARTITION BY judged.text_id, judged.image_id, judged.split
        ORDER BY lists.has_grades DESC, judged.relevance DESC
    ) AS place
FROM judged INNER JOIN lists ON judged.file = lists.file
ORDER BY judged.text_id, judged.image_id, judged.split, place
