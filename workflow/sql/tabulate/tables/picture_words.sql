-- By wiki: pictures whose links hold parts that no word of the wiki explains, and those parts.
-- `words` names the wiki whose words were read; it is `none` where no list has the wiki's own.
WITH linked AS (
    SELECT * FROM pictures WHERE origin IN ('link', 'gallery')
),

parted AS (
    SELECT
        wiki,
        unnest(unread) AS part
    FROM linked
),

counted AS (
    SELECT
        wiki,
        part,
        count(*) AS times
    FROM parted
    GROUP BY wiki, part
    QUALIFY row_number() OVER (PARTITION BY wiki ORDER BY times DESC, part ASC) <= 5
),

commonest AS (
    SELECT
        wiki,
        string_agg(left(part, 40) || ' (' || times || ')', ', ' ORDER BY times DESC, part ASC)
            AS parts
    FROM counted
    GROUP BY wiki
)

SELECT
    linked.wiki,
    coalesce(max(linked.words), 'none') AS words,
    count(*) AS pictures,
    count_if(len(linked.unread) > 0) AS unread_pictures,
    coalesce(sum(len(linked.unread)), 0)::BIGINT AS unread_parts,
    coalesce(any_value(commonest.parts), '') AS commonest
FROM linked
LEFT JOIN commonest ON linked.wiki = commonest.wiki
GROUP BY linked.wiki
ORDER BY linked.wiki
